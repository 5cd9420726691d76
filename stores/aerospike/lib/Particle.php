<?php
namespace Weighbridge\Aerospike;

use Weighbridge\Fault;

/**
 * A bin's value on the wire: a type and its bytes.
 *
 * PHP's integers, floats, booleans, texts, lists and maps have a type each. Null has one, too, but written to a
 * bin it removes the bin, so null is refused as the value of a bin.
 */
final class Particle
{
    const NOTHING = 0;
    const INTEGER = 1;
    const DOUBLE = 2;
    const TEXT = 3;
    const BLOB = 4;
    const BOOLEAN = 17;
    const MAP = 19;
    const ITEMS = 20;

    /** The number of bytes of a type, if fixed. */
    private static $sizes = array(self::NOTHING => 0, self::INTEGER => 8, self::DOUBLE => 8, self::BOOLEAN => 1);

    /** @return array the type and the bytes of a value */
    public static function of($value)
    {
        if (is_int($value)) {
            return array(self::INTEGER, Number::integer($value));
        }
        if (is_string($value)) {
            return array(self::TEXT, $value);
        }
        if (is_array($value)) {
            $bytes = Packer::pack($value);
            return array(Packer::isMap($bytes) ? self::MAP : self::ITEMS, $bytes);
        }
        if (is_float($value)) {
            return array(self::DOUBLE, Number::double($value));
        }
        if (is_bool($value)) {
            return array(self::BOOLEAN, $value ? "\x01" : "\x00");
        }
        $what = $value === null ? 'null, which for Aerospike means that there is no such bin' : 'of type ' . gettype($value);
        throw new Fault('parameter', "the value of a bin cannot be $what");
    }

    /** @return mixed the value of a type and its bytes; a blob is a text */
    public static function read($type, $bytes)
    {
        if (isset(self::$sizes[$type])) {
            return self::readFixed($type, $bytes);
        }
        if (self::isText($type)) {
            return $bytes;
        }
        if ($type !== self::MAP && $type !== self::ITEMS) {
            throw new Failure("the reply has a bin of the unknown type $type");
        }
        $value = Unpacker::unpack($bytes);
        if (!is_array($value)) {
            throw new Failure('the reply has a bin of type list or map with another value');
        }
        return $value;
    }

    /** @return bool whether its bytes are a text or a blob */
    public static function isText($type)
    {
        return $type === self::TEXT || $type === self::BLOB;
    }

    private static function readFixed($type, $bytes)
    {
        if (strlen($bytes) !== self::$sizes[$type]) {
            throw new Failure("the reply has a bin of type $type with " . strlen($bytes) . ' bytes');
        }
        if ($type === self::INTEGER) {
            return Number::toInteger($bytes);
        }
        if ($type === self::DOUBLE) {
            return Number::toDouble($bytes);
        }
        return $type === self::NOTHING ? null : $bytes !== "\x00";
    }
}
