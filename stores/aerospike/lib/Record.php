<?php
namespace Weighbridge\Aerospike;

use Weighbridge\Fault;
use Weighbridge\Text;

/**
 * Converts a value to the bins of a record, and back.
 *
 * An array with names is a record, with a bin for each name. Any other value, also a list, is in one bin. A single text
 * is a blob, because a cache stores bytes.
 */
final class Record
{
    /** The most bins that a record can have. */
    const MOST = 32767;
    const LONGEST_NAME = 15;

    /**
     * @return array the number of operations that write the value, and their bytes
     * @throws Fault if it cannot be stored
     */
    public static function write($value)
    {
        if (is_string($value)) {
            return array(1, self::operation(Address::BIN, Particle::BLOB, $value));
        }
        if (!is_array($value) || Packer::isList($value)) {
            list($type, $bytes) = Particle::of($value);
            return array(1, self::operation(Address::BIN, $type, $bytes));
        }
        self::inspect($value);
        $operations = '';
        foreach ($value as $name => $part) {
            try {
                list($type, $bytes) = Particle::of($part);
            } catch (Fault $fault) {
                throw new Fault('parameter', 'bin `' . Text::line((string) $name) . '`: ' . $fault->getMessage());
            }
            $operations .= self::operation((string) $name, $type, $bytes);
        }
        return array(count($value), $operations);
    }

    /** @return mixed the value of these bins, the reverse of write() */
    public static function value(array $bins)
    {
        return count($bins) === 1 && array_key_exists(Address::BIN, $bins) ? $bins[Address::BIN] : $bins;
    }

    /** Refuses an array that cannot be a record, or would be read back as another value. */
    public static function inspect(array $record)
    {
        if (count($record) > self::MOST) {
            throw new Fault('parameter', 'a record cannot have more than ' . self::MOST . ' bins');
        }
        if (count($record) === 1 && array_key_exists(Address::BIN, $record)) {
            $message = 'a record of the one bin `' . Address::BIN . '` would be read back as the value of that bin';
            throw new Fault('parameter', $message);
        }
        foreach (array_keys($record) as $name) {
            if ($name === '' || strlen($name) > self::LONGEST_NAME) {
                $message = 'the name of a bin must have 1 to ' . self::LONGEST_NAME . ' bytes, not `' . Text::line((string) $name) . '`';
                throw new Fault('parameter', $message);
            }
        }
    }

    /** @return string the operation that writes a bin */
    private static function operation($name, $type, $bytes)
    {
        $length = strlen($name);
        return pack('NCCCC', 4 + $length + strlen($bytes), 2, $type, 0, $length) . $name . $bytes;
    }
}
