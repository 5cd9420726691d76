<?php
namespace Weighbridge;

/** What one timed run took, all its passes together. */
final class Span
{
    /** Passes. */
    public $times;
    /** Nanoseconds of wall time. */
    public $wall;
    /** Nanoseconds of CPU time, user and system; the kernel reports whole microseconds. */
    public $cpu;
    /** Involuntary context switches. */
    public $preempted;

    /**
     * @param int       $times
     * @param int|float $wall
     * @param array     $before what getrusage() said
     * @param array     $after  likewise
     */
    public function __construct($times, $wall, array $before, array $after)
    {
        $this->times = $times;
        $this->wall = $wall;
        $this->cpu = self::cpu($after) - self::cpu($before);
        $this->preempted = $after['ru_nivcsw'] - $before['ru_nivcsw'];
    }

    private static function cpu(array $usage)
    {
        return ($usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec']) * 1e9
            + ($usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']) * 1e3;
    }
}
