<?php
namespace Weighbridge\Aerospike;

/** Numbers of 8 and 4 bytes, most significant first. pack() has no letter for them in every PHP from 5.5. */
final class Number
{
    /** @return string the 8 bytes of an integer in two's complement */
    public static function integer($value)
    {
        return pack('NN', $value >> 32 & 0xffffffff, $value & 0xffffffff);
    }

    /** @return int of 8 bytes in two's complement */
    public static function toInteger($bytes)
    {
        $halves = unpack('Nhigh/Nlow', $bytes);
        return $halves['high'] << 32 | $halves['low'];
    }

    /** @return string the 8 bytes of a double */
    public static function double($value)
    {
        return self::turned(pack('d', $value));
    }

    /** @return float of the 8 bytes of a double */
    public static function toDouble($bytes)
    {
        $values = unpack('d', self::turned($bytes));
        return $values[1];
    }

    /** @return float of the 4 bytes of a float */
    public static function toFloat($bytes)
    {
        $values = unpack('f', self::turned($bytes));
        return $values[1];
    }

    /** Between this machine's order and the wire's. */
    private static function turned($bytes)
    {
        return pack('S', 1) === "\x01\x00" ? strrev($bytes) : $bytes;
    }
}
