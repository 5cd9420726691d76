<?php
namespace Weighbridge;

/** A driver behind a Marshaller: values are encoded before it gets them, and decoded after. */
final class Marshalled
{
    private $driver;
    private $marshaller;

    public function __construct($driver, Marshaller $marshaller)
    {
        $this->driver = $driver;
        $this->marshaller = $marshaller;
    }

    public function put($key, $value)
    {
        $this->driver->put($key, $this->marshaller->encode($value));
    }

    /** @return mixed null when there is none */
    public function get($key)
    {
        $text = $this->driver->get($key);
        return $text === null ? null : $this->marshaller->decode($text);
    }
}
