<?php
namespace Weighbridge;

/** Burns a known CPU time, by what the kernel says that this process used. */
final class Burner
{
    private $user = 0;
    private $system = 0;

    /**
     * @param int $milliseconds of CPU time, user and system together
     * @return Burner how much it became: at least that, and over by one short step
     */
    public static function burn($milliseconds)
    {
        $burner = new self();
        list($user, $system) = self::usage();
        $text = 'weigh';
        do {
            for ($i = 0; $i < 20; ++$i) {
                $text = sha1($text);
            }
            list($userNow, $systemNow) = self::usage();
            $burner->user = $userNow - $user;
            $burner->system = $systemNow - $system;
        } while ($burner->user + $burner->system < $milliseconds * 1000);
        return $burner;
    }

    /** @return array milliseconds as text: `total`, `user`, `system` */
    public function figures()
    {
        $figures = array('total' => $this->user + $this->system, 'user' => $this->user, 'system' => $this->system);
        return array_map(function ($microseconds) {
            return number_format($microseconds / 1000, 3, '.', '');
        }, $figures);
    }

    /** @return array microseconds of user and of system time of this process */
    private static function usage()
    {
        $usage = getrusage();
        return array(
            $usage['ru_utime.tv_sec'] * 1000000 + $usage['ru_utime.tv_usec'],
            $usage['ru_stime.tv_sec'] * 1000000 + $usage['ru_stime.tv_usec'],
        );
    }
}
