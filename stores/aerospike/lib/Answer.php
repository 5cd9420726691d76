<?php
namespace Weighbridge\Aerospike;

/** Reads answers, which may be hostile: every length is held against what is there before it is used. */
final class Answer
{
    /** Of the frame, before the body. */
    const FRAME = 8;

    /**
     * @param string $frame the whole answer
     * @return int the result code of an answer on a record
     */
    public static function code($frame)
    {
        $headed = strlen($frame) >= self::FRAME + Message::HEADER;
        if (!$headed || ord($frame[self::FRAME]) !== Message::HEADER) {
            throw new Failure('the answer has no header of ' . Message::HEADER . ' bytes');
        }
        return ord($frame[13]);
    }

    /**
     * @param string $frame the whole answer, whose code was asked for
     * @return array the bins by name
     */
    public static function bins($frame)
    {
        $counts = unpack('nfields/nbins', substr($frame, 26, 4));
        $at = self::FRAME + Message::HEADER;
        $end = strlen($frame);
        for ($i = 0; $i < $counts['fields']; ++$i) {
            $at += 4 + self::length($frame, $at, $end, 1, 'field');
        }
        $bins = array();
        for ($i = 0; $i < $counts['bins']; ++$i) {
            $next = $at + 4 + self::length($frame, $at, $end, 4, 'bin');
            list($name, $value) = self::bin($frame, $at + 4, $next);
            $bins[$name] = $value;
            $at = $next;
        }
        if ($at !== $end || count($bins) !== $counts['bins']) {
            throw new Failure($at !== $end ? 'the answer goes on after its last bin' : 'the answer has a bin twice');
        }
        return $bins;
    }

    /** @return array the values of an answer of the info protocol by name */
    public static function info($frame)
    {
        $values = array();
        foreach (explode("\n", (string) substr($frame, self::FRAME)) as $line) {
            $parts = explode("\t", $line, 2);
            if (isset($parts[1])) {
                $values[$parts[0]] = $parts[1];
            }
        }
        return $values;
    }

    /** @return array name and value of the bin between two places: operation, type, flags, length of the name */
    private static function bin($frame, $at, $end)
    {
        $value = $at + 4 + ord($frame[$at + 3]);
        if ($value > $end || $frame[$at + 2] !== "\x00") {
            throw new Failure('the answer has a bin whose name or flags are wrong');
        }
        // Before PHP 8.0 substr() made false of nothing at the very end.
        $name = (string) substr($frame, $at + 4, $value - $at - 4);
        return array($name, Particle::read(ord($frame[$at + 1]), (string) substr($frame, $value, $end - $value)));
    }

    /** @return int the length that stands at a place: what follows it, of which at least so many bytes are needed */
    private static function length($frame, $at, $end, $least, $what)
    {
        if ($end - $at < 4 + $least) {
            throw new Failure("the answer is cut short within a $what");
        }
        $lengths = unpack('N', substr($frame, $at, 4));
        if ($lengths[1] < $least || $lengths[1] > $end - $at - 4) {
            throw new Failure("the answer has a $what of $lengths[1] bytes where " . ($end - $at - 4) . ' are left');
        }
        return $lengths[1];
    }
}
