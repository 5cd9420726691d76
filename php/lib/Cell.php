<?php
namespace Weighbridge;

/**
 * What one cell encodes: the items of a payload as bytes, or the PHP values that they are through a serializer, or PHP
 * values given to a codec that takes values. It makes the passes of each phase and judges what comes back.
 */
final class Cell
{
    private $inputs;
    private $sources;
    private $lengths;
    private $serializer;
    private $takesValue;

    private function __construct(array $inputs, array $sources, $serializer, $takesValue)
    {
        $this->inputs = $inputs;
        $this->sources = $sources;
        $this->lengths = array_map('strlen', $sources);
        $this->serializer = $serializer;
        $this->takesValue = $takesValue;
    }

    /** @return Cell of a payload's items */
    public static function ofBytes(Payload $payload)
    {
        return new self($payload->items(), $payload->items(), null, false);
    }

    /** @return Cell of values, serialized and then encoded */
    public static function ofSerialized(array $values, Serializer $serializer)
    {
        return new self($values, array_map($serializer->pack, $values), $serializer, false);
    }

    /** @return Cell of values for a codec that takes values; what it decodes to is counted as serialize() has it */
    public static function ofValues(array $values)
    {
        return new self($values, array_map('serialize', $values), null, true);
    }

    /** @return Cell of the first item alone */
    public function first()
    {
        $inputs = array_slice($this->inputs, 0, 1);
        return new self($inputs, array_slice($this->sources, 0, 1), $this->serializer, $this->takesValue);
    }

    /** @return array the names of the phases that it has */
    public function phases()
    {
        return $this->serializer ? array('encode', 'compress', 'decode', 'decompress') : array('encode', 'decode');
    }

    /** @return array what encoding starts from, as texts */
    public function sources()
    {
        return $this->sources;
    }

    /** @return array the lengths of the sources in bytes */
    public function lengths()
    {
        return $this->lengths;
    }

    /** @return Pass of a phase; `$encoded` is what the codec made of the sources, and maybe of further ones */
    public function pass($phase, Coder $coder, array $encoded)
    {
        $encoded = array_slice($encoded, 0, count($this->sources));
        switch ($phase) {
            case 'encode':
                return $coder->encodePass($this->inputs, $this->serializer ? $this->serializer->pack : null);
            case 'compress':
                return $coder->encodePass($this->sources);
            case 'decode':
                $unpack = $this->serializer ? $this->serializer->unpack : null;
                return $coder->decodePass($encoded, $this->lengths, $unpack);
            default:
                return $coder->decodePass($encoded, $this->lengths);
        }
    }

    /** @return bool whether verification makes the very calls of the phase `decode` */
    public function verifiesAsTimed(Coder $coder)
    {
        return $this->serializer === null && $coder->verifiesAsTimed();
    }

    /** @return Pass whose outputs compare() judges */
    public function verifyingPass(Coder $coder, array $encoded)
    {
        return $coder->boundedPass($encoded, $this->lengths);
    }

    /**
     * @param array $decoded the outputs of the verifying pass
     * @throws Fault when anything but the source came back
     */
    public function compare(array $decoded)
    {
        foreach ($decoded as $i => $output) {
            $text = $this->takesValue ? serialize($output) : $output;
            if ($text !== $this->sources[$i]) {
                throw new Fault('round-trip', "item $i came back as " . self::unlike($text, $this->sources[$i]));
            }
        }
        if ($this->serializer) {
            foreach ($decoded as $i => $text) {
                $this->compareValue($i, $text);
            }
        }
    }

    /** @throws Fault when the last output of a phase is not what it should be; values are not looked into */
    public function checkLast($phase, Pass $pass)
    {
        $last = $pass->last();
        $whole = $phase === 'decompress' || ($phase === 'decode' && !$this->serializer && !$this->takesValue);
        if ($whole && $last !== end($this->sources)) {
            throw new Fault('round-trip', "while timed, $phase gave " . self::unlike($last, end($this->sources)));
        }
        if (($phase === 'encode' || $phase === 'compress') && !is_string($last)) {
            throw new Fault('codec', "while timed, $phase gave " . gettype($last) . ' and not a text');
        }
    }

    private function compareValue($i, $text)
    {
        $value = call_user_func($this->serializer->unpack, $text);
        if (call_user_func($this->serializer->pack, $value) !== $this->sources[$i]) {
            throw new Fault('round-trip', 'the value that came back serializes to other bytes');
        }
        // A serializer could lose something on the way in and still agree with itself.
        if (serialize($value) !== serialize($this->inputs[$i])) {
            throw new Fault('round-trip', 'the value that came back is not the value that went in');
        }
    }

    private static function unlike($found, $expected)
    {
        if (!is_string($found)) {
            return gettype($found) . ', not as ' . strlen($expected) . ' bytes';
        }
        if (strlen($found) !== strlen($expected)) {
            return strlen($found) . ' bytes, not ' . strlen($expected);
        }
        return 'other bytes, first at offset ' . strspn($found ^ $expected, "\0");
    }
}
