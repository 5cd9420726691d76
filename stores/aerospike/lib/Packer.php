<?php
namespace Weighbridge\Aerospike;

use Weighbridge\Fault;

/**
 * Lists and maps in Aerospike's msgpack: every text starts with a byte for its particle type.
 *
 * The forms are those of the official C client, shortest first. A list is an array with the keys 0 to n-1 in this
 * order; any other array is a map. Objects, resources and arrays nested too deep are refused.
 */
final class Packer
{
    const DEEPEST = 64;

    /**
     * @param mixed $value
     * @param int   $depth number of arrays around it
     * @return string
     */
    public static function pack($value, $depth = 0)
    {
        if (is_string($value)) {
            return self::length(strlen($value) + 1, 0xa0, 31, 0xd9) . "\x03" . $value;
        }
        if (is_int($value)) {
            return self::integer($value);
        }
        if (is_array($value)) {
            return self::collection($value, $depth);
        }
        if (is_float($value)) {
            return "\xcb" . Number::double($value);
        }
        if (is_bool($value)) {
            return $value ? "\xc3" : "\xc2";
        }
        if ($value === null) {
            return "\xc0";
        }
        throw new Fault('parameter', 'a value of type ' . gettype($value) . ' cannot be stored');
    }

    /** @return bool whether the keys are 0 to n-1 in this order */
    public static function isList(array $value)
    {
        foreach (array_keys($value) as $place => $key) {
            if ($key !== $place) {
                return false;
            }
        }
        return true;
    }

    /** @return bool whether the packed value is a map */
    public static function isMap($bytes)
    {
        $tag = ord($bytes[0]);
        return ($tag & 0xf0) === 0x80 || $tag === 0xde || $tag === 0xdf;
    }

    private static function collection(array $value, $depth)
    {
        if ($depth >= self::DEEPEST) {
            throw new Fault('parameter', 'arrays nested more than ' . self::DEEPEST . ' deep cannot be stored');
        }
        $count = count($value);
        if (self::isList($value)) {
            $bytes = self::length($count, 0x90, 15, 0xdb);
            foreach ($value as $part) {
                $bytes .= self::pack($part, $depth + 1);
            }
            return $bytes;
        }
        $bytes = self::length($count, 0x80, 15, 0xdd);
        foreach ($value as $key => $part) {
            $bytes .= self::pack($key) . self::pack($part, $depth + 1);
        }
        return $bytes;
    }

    /**
     * A length: inside one byte up to a limit, otherwise after a byte with its width.
     *
     * @param int $tag the tag for a width of one byte; those for two and four bytes follow it. Lists and maps have no
     *                 one-byte form, so for these $tag is one lower.
     */
    private static function length($length, $within, $limit, $tag)
    {
        if ($length <= $limit) {
            return chr($within | $length);
        }
        if ($length <= 0xff && $tag === 0xd9) {
            return "\xd9" . chr($length);
        }
        return $length <= 0xffff ? pack('Cn', $tag + 1, $length) : pack('CN', $tag + 2, $length);
    }

    private static function integer($value)
    {
        if ($value >= 0) {
            return $value < 0x80 ? chr($value) : self::positive($value);
        }
        if ($value >= -32) {
            return chr($value & 0xff);
        }
        if ($value >= -0x80) {
            return "\xd0" . chr($value & 0xff);
        }
        if ($value >= -0x8000) {
            return "\xd1" . pack('n', $value & 0xffff);
        }
        return $value >= -0x80000000 ? "\xd2" . pack('N', $value & 0xffffffff) : "\xd3" . Number::integer($value);
    }

    private static function positive($value)
    {
        if ($value <= 0xff) {
            return "\xcc" . chr($value);
        }
        if ($value <= 0xffff) {
            return "\xcd" . pack('n', $value);
        }
        return $value <= 0xffffffff ? "\xce" . pack('N', $value) : "\xcf" . Number::integer($value);
    }
}
