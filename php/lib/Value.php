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
            $value = PHP_VERSION_ID < 70000
                ? unserialize($text)
                : unserialize($text, array('allowed_classes' => array('stdClass')));
        } catch (\ErrorException $error) {
            throw new Fault('payload', "$path is not a serialized PHP value: " . $error->getMessage());
        }
        self::inspect($value, strlen($text), $path);
        return $value;
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
            $part = array_pop($open);
            if (++$count > $most) {
                throw new Fault('payload', "the value in $path refers to itself");
            }
            if (is_object($part) || gettype($part) === 'object') {
                $class = get_class($part);
                if ($class !== 'stdClass') {
                    throw new Fault('payload', "the value in $path has objects of other classes than stdClass ($class)");
                }
                $id = spl_object_hash($part);
                $part = isset($seen[$id]) ? array() : get_object_vars($part);
                $seen[$id] = true;
            }
            if (is_array($part)) {
                foreach ($part as $child) {
                    if (!is_scalar($child) && $child !== null) {
                        $open[] = $child;
                    } else {
                        ++$count;
                    }
                }
            }
        }
    }
}
