<?php
namespace Weighbridge;

/**
 * Reads a serialized value that may be hostile: of all classes only stdClass is taken.
 *
 * Once that is made sure, what serializers make of the value can be read back without any restriction, as an
 * application would, and no code of a class can be set off by it.
 */
final class Value
{
    /** @return mixed */
    public static function read($text, $path)
    {
        // Before PHP 7.0 classes could not be restricted; the digest of the payload has to do there.
        try {
            $value = self::restore($text);
        } catch (\ErrorException $error) {
            throw new Fault('payload', "$path is not a serialized PHP value: " . $error->getMessage());
        }
        self::inspect($value, strlen($text), $path);
        return $value;
    }

    /**
     * unserialize() of bytes that a store sent, which may be anything.
     *
     * @return mixed
     */
    public static function restore($text)
    {
        static $classes = array('allowed_classes' => array('stdClass'));
        return PHP_VERSION_ID < 70000 ? unserialize($text) : unserialize($text, $classes);
    }

    /**
     * Refuses objects of other classes, which unserialize() leaves as __PHP_Incomplete_Class, and values that
     * refer to themselves: a part of a value takes at least two bytes of text, so more parts than bytes can
     * only come from references followed again and again.
     */
    private static function inspect($value, $most, $path)
    {
        $open = array($value);
        $seen = array();
        $count = 0;
        while ($open) {
            foreach (self::partsOf(array_pop($open), $seen, $path) as $part) {
                ++$count;
                if (is_array($part) || self::isObject($part)) {
                    $open[] = $part;
                }
            }
            if ($count > $most) {
                throw new Fault('payload', "the value in $path refers to itself");
            }
        }
    }

    /** @return array what a value is made of; nothing for an object that was seen before */
    private static function partsOf($value, array &$seen, $path)
    {
        if (!self::isObject($value)) {
            return is_array($value) ? $value : array();
        }
        if (get_class($value) !== 'stdClass') {
            $message = "the value in $path has objects of other classes than stdClass";
            throw new Fault('payload', $message, 'use arrays and stdClass only');
        }
        $id = spl_object_hash($value);
        if (isset($seen[$id])) {
            return array();
        }
        $seen[$id] = true;
        return get_object_vars($value);
    }

    /** @return bool also for an incomplete class, which is_object() denies before PHP 7.2 */
    private static function isObject($value)
    {
        return is_object($value) || gettype($value) === 'object';
    }
}
