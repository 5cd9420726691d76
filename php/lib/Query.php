<?php
namespace Weighbridge;

/** The query of a request to an entry script: every field is a text, and is checked when it is read. */
final class Query
{
    private $fields;

    /**
     * @param array $fields as PHP parsed them
     * @throws Fault when one is not a text
     */
    public function __construct(array $fields)
    {
        foreach ($fields as $name => $value) {
            if (!is_string($value)) {
                throw new Fault('parameter', "the query's `$name` must be given once, as a text");
            }
        }
        $this->fields = $fields;
    }

    /** @return string */
    public function text($name)
    {
        if (!isset($this->fields[$name]) || $this->fields[$name] === '') {
            throw new Fault('parameter', "the query lacks `$name`");
        }
        return $this->fields[$name];
    }

    /** @return int between `$least` and `$most`; `$default` where it is not given */
    public function number($name, $least, $most, $default)
    {
        if (!isset($this->fields[$name])) {
            return $default;
        }
        $text = $this->fields[$name];
        if (!preg_match('/^-?\d{1,9}$/D', $text) || (int) $text < $least || (int) $text > $most) {
            throw new Fault('parameter', "the query's `$name` must be a whole number from $least to $most");
        }
        return (int) $text;
    }

    /** @return Params the level, and every field but those of the request itself as an option */
    public function params()
    {
        $options = array_diff_key($this->fields, array_flip(array('content', 'way', 'level', 'ballast')));
        return new Params($this->number('level', -999, 999, null), $options);
    }
}
