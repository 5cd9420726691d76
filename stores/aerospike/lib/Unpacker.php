<?php
namespace Weighbridge\Aerospike;

/**
 * Parses Aerospike's msgpack, which may be hostile: every length is checked against the available bytes before it is used,
 * depth and the number of parts are limited, and nothing may follow the value.
 *
 * A map becomes an array with its keys; a blob becomes a text. Maps that a PHP array cannot hold are refused.
 */
final class Unpacker
{
    const DEEPEST = 64;
    /** The most parts of all lists and maps together: a part of one byte takes up to 40 bytes in PHP. */
    const MOST = 4000000;

    /** The number of length bytes after a tag. */
    private static $widths = array(
        0xc4 => 1, 0xc5 => 2, 0xc6 => 4, 0xd9 => 1, 0xda => 2, 0xdb => 4, 0xdc => 2, 0xdd => 4, 0xde => 2, 0xdf => 4,
    );
    /** The number of bytes of a number. */
    private static $numbers = array(
        0xca => 4, 0xcb => 8, 0xcc => 1, 0xcd => 2, 0xce => 4, 0xcf => 8, 0xd0 => 1, 0xd1 => 2, 0xd2 => 4, 0xd3 => 8,
    );
    /** The number of bytes after the kind in an extension of fixed length. */
    private static $extensions = array(0xd4 => 1, 0xd5 => 2, 0xd6 => 4, 0xd7 => 8, 0xd8 => 16);
    private static $constants = array(0xc0 => null, 0xc2 => false, 0xc3 => true);

    private $bytes;
    private $length;
    private $at = 0;
    private $parts = 0;

    /** @param string $bytes */
    private function __construct($bytes)
    {
        $this->bytes = $bytes;
        $this->length = strlen($bytes);
    }

    /** @return mixed the value of the bytes */
    public static function unpack($bytes)
    {
        $unpacker = new self($bytes);
        $value = $unpacker->value(0);
        if ($unpacker->at !== $unpacker->length) {
            throw new Failure('a list or map of the reply ends before its bytes');
        }
        return $value;
    }

    private function value($depth)
    {
        $tag = $this->byte();
        if ($tag < 0x80) {
            return $tag;
        }
        if ($tag >= 0xe0) {
            return $tag - 0x100;
        }
        if ($tag >= 0xc0) {
            return $this->tagged($tag, $depth);
        }
        if ($tag >= 0xa0) {
            return $this->text($tag & 0x1f);
        }
        return $tag >= 0x90 ? $this->items($tag & 0x0f, $depth) : $this->pairs($tag & 0x0f, $depth);
    }

    private function tagged($tag, $depth)
    {
        if (isset(self::$widths[$tag])) {
            $length = $this->unsigned(self::$widths[$tag]);
            if ($tag < 0xdc) {
                return $this->text($length);
            }
            return $tag < 0xde ? $this->items($length, $depth) : $this->pairs($length, $depth);
        }
        if (isset(self::$numbers[$tag])) {
            return $this->number($tag, self::$numbers[$tag]);
        }
        if (array_key_exists($tag, self::$constants)) {
            return self::$constants[$tag];
        }
        throw new Failure(sprintf('a list or map of the reply has the invalid tag 0x%02x', $tag));
    }

    private function number($tag, $width)
    {
        if ($tag === 0xca) {
            return Number::toFloat($this->take(4));
        }
        if ($tag === 0xcb) {
            return Number::toDouble($this->take(8));
        }
        if ($width === 8) {
            $value = Number::toInteger($this->take(8));
            if ($tag === 0xcf && $value < 0) {
                throw new Failure('a list or map of the reply has an integer over 63 bits');
            }
            return $value;
        }
        $value = $this->unsigned($width);
        $sign = 1 << (8 * $width - 1);
        return $tag >= 0xd0 && $value >= $sign ? $value - 2 * $sign : $value;
    }

    /** A text or blob: the first byte is its particle type. */
    private function text($length)
    {
        $type = $length > 0 ? $this->byte() : 0;
        if (!Particle::isText($type)) {
            throw new Failure("a list or map of the reply has a text of the unknown type $type");
        }
        return $this->take($length - 1);
    }

    private function items($count, $depth)
    {
        $this->enter($count, $count, $depth);
        if ($count > 0 && $this->skipExtension()) {
            --$count;
        }
        $list = array();
        for ($i = 0; $i < $count; ++$i) {
            $list[] = $this->value($depth + 1);
        }
        return $list;
    }

    private function pairs($count, $depth)
    {
        $this->enter($count, 2 * $count, $depth);
        if ($count > 0 && $this->skipExtension()) {
            // A map that the server keeps in order has a marker instead of its first key, without a value.
            $this->value($depth + 1);
            --$count;
        }
        $map = array();
        for ($i = 0; $i < $count; ++$i) {
            $key = $this->value($depth + 1);
            if (!is_int($key) && !is_string($key)) {
                throw new Failure('a map of the reply has a key of type ' . gettype($key));
            }
            $map[$key] = $this->value($depth + 1);
        }
        if (count($map) !== $count) {
            throw new Failure('a map of the reply has keys that are the same in PHP');
        }
        return $map;
    }

    /** Checks a count of parts, each of which takes at least a byte, against the limits. */
    private function enter($count, $least, $depth)
    {
        if ($least > $this->length - $this->at) {
            throw new Failure("a list or map of the reply has $count parts, more than its bytes allow");
        }
        if ($depth >= self::DEEPEST) {
            throw new Failure('the lists and maps of the reply are nested more than ' . self::DEEPEST . ' deep');
        }
        $this->parts += $least;
        if ($this->parts > self::MOST) {
            throw new Failure('the lists and maps of the reply have more than ' . self::MOST . ' parts');
        }
    }

    /** @return bool whether there was a marker: it says how the server keeps the list or map, and is not a part of it */
    private function skipExtension()
    {
        $tag = $this->at < $this->length ? ord($this->bytes[$this->at]) : 0;
        if ($tag < 0xc7 || $tag > 0xd8) {
            return false;
        }
        if (isset(self::$extensions[$tag])) {
            $this->take(2 + self::$extensions[$tag]);
            return true;
        }
        if ($tag > 0xc9) {
            return false;
        }
        ++$this->at;
        $this->take(1 + $this->unsigned(1 << ($tag - 0xc7)));
        return true;
    }

    private function unsigned($width)
    {
        if ($width === 1) {
            return $this->byte();
        }
        $values = unpack($width === 2 ? 'n' : 'N', $this->take($width));
        return $values[1];
    }

    private function byte()
    {
        if ($this->at >= $this->length) {
            throw new Failure('a list or map of the reply is truncated');
        }
        return ord($this->bytes[$this->at++]);
    }

    private function take($length)
    {
        if ($length > $this->length - $this->at) {
            throw new Failure('a list or map of the reply is truncated');
        }
        // Before PHP 8.0, substr() returned false for an empty rest.
        $bytes = $length === 0 ? '' : substr($this->bytes, $this->at, $length);
        $this->at += $length;
        return $bytes;
    }
}
