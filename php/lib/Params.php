<?php
namespace Weighbridge;

/** The parameters of one cell: a level, which may be absent, and options as text. */
final class Params
{
    public $level;
    public $options;

    /**
     * @param int|null $level
     * @param array    $options name => text
     */
    public function __construct($level, array $options)
    {
        $this->level = $level;
        $this->options = $options;
    }

    /** @return string the option's text, or what holds without it */
    public function option($name, $default)
    {
        return isset($this->options[$name]) ? $this->options[$name] : $default;
    }
}
