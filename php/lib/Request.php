<?php
namespace Weighbridge;

/** One request, with every field checked for its type when it is read. */
final class Request
{
    private $fields;

    private function __construct(array $fields)
    {
        $this->fields = $fields;
    }

    /**
     * @param string $line one JSON object
     * @return Request
     * @throws Fault when it is none
     */
    public static function parse($line)
    {
        $fields = json_decode($line, true);
        if (!is_array($fields)) {
            throw new Fault('parameter', 'the request is not a JSON object: ' . substr(trim($line), 0, 80));
        }
        return new self($fields);
    }

    /** @return int the request's id, 0 when it has none */
    public function id()
    {
        return isset($this->fields['id']) && is_int($this->fields['id']) ? $this->fields['id'] : 0;
    }

    /** @return bool whether the field is there and not null */
    public function has($name)
    {
        return isset($this->fields[$name]);
    }

    /** @return string */
    public function text($name)
    {
        return $this->typed($name, 'is_string', 'a text');
    }

    /** @return string|null */
    public function textOrNull($name)
    {
        return $this->has($name) ? $this->text($name) : null;
    }

    /** @return bool */
    public function flag($name)
    {
        return $this->has($name) && $this->typed($name, 'is_bool', 'true or false');
    }

    /** @return int|float at least `$least`; a float where it is beyond this PHP's integers */
    public function number($name, $least)
    {
        $number = $this->typed($name, 'is_numeric', 'a number');
        if ($number < $least) {
            throw new Fault('parameter', "the request's `$name` is $number; it must be at least $least");
        }
        return $number;
    }

    /** @return array list of values that all pass `$test` */
    public function listOf($name, $test, $what)
    {
        $list = $this->typed($name, 'is_array', "a list of $what");
        if (count(array_filter($list, $test)) !== count($list)) {
            throw new Fault('parameter', "the request's `$name` must be a list of $what");
        }
        return array_values($list);
    }

    /** @return array a JSON object as it came */
    public function map($name)
    {
        return $this->typed($name, 'is_array', 'an object');
    }

    /** @return Request a JSON object within this one, or null where there is none */
    public function partOrNull($name)
    {
        return $this->has($name) ? new self($this->map($name)) : null;
    }

    /** @return Params the level and the options */
    public function params()
    {
        $level = $this->has('level') ? $this->typed('level', 'is_int', 'a whole number') : null;
        $options = $this->has('options') ? $this->typed('options', 'is_array', 'an object of texts') : array();
        foreach ($options as $name => $value) {
            if (!is_string($value)) {
                throw new Fault('parameter', "the request's option `$name` must be a text");
            }
        }
        return new Params($level, $options);
    }

    private function typed($name, $test, $what)
    {
        if (!$this->has($name)) {
            throw new Fault('parameter', "the request lacks `$name`");
        }
        if (!$test($this->fields[$name])) {
            throw new Fault('parameter', "the request's `$name` must be $what");
        }
        return $this->fields[$name];
    }
}
