<?php
namespace Weighbridge\Aerospike;

/** Parses replies, which may be hostile: every length is checked against the available bytes before it is used. */
final class Answer
{
    /** The frame before the body. */
    const FRAME = 8;

    /**
     * @param string $frame the whole reply
     * @return int the result code of a reply about a record
     */
    public static function code($frame)
    {
        $headed = strlen($frame) >= self::FRAME + Message::HEADER;
        if (!$headed || ord($frame[self::FRAME]) !== Message::HEADER) {
            throw new Failure('the reply has no header of ' . Message::HEADER . ' bytes');
        }
        return ord($frame[13]);
    }

    /**
     * @param string $frame the whole reply, whose code was checked
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
            throw new Failure($at !== $end ? 'the reply has bytes after its last bin' : 'the reply has a bin twice');
        }
        return $bins;
    }

    /** @return array the values of a reply of the info protocol by name */
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
            throw new Failure('the reply has a bin with an invalid name or flags');
        }
        // Before PHP 8.0, substr() returned false for an empty rest.
        $name = (string) substr($frame, $at + 4, $value - $at - 4);
        return array($name, Particle::read(ord($frame[$at + 1]), (string) substr($frame, $value, $end - $value)));
    }

    /** @return int the length at a place; at least $least bytes must follow */
    private static function length($frame, $at, $end, $least, $what)
    {
        if ($end - $at < 4 + $least) {
            throw new Failure("the reply is truncated within a $what");
        }
        $lengths = unpack('N', substr($frame, $at, 4));
        if ($lengths[1] < $least || $lengths[1] > $end - $at - 4) {
            throw new Failure("the reply has a $what of $lengths[1] bytes, but only " . ($end - $at - 4) . ' are left');
        }
        return $lengths[1];
    }
}
