<?php
namespace Weighbridge;

/** A driver that stores texts, behind PHP's own serialize(), as an application would have it. */
final class Serialized
{
    private $driver;

    public function __construct($driver)
    {
        $this->driver = $driver;
    }

    public function put($key, $value)
    {
        $this->driver->put($key, serialize($value));
    }

    /** @return mixed null when there is none */
    public function get($key)
    {
        $text = $this->driver->get($key);
        if ($text === null) {
            return null;
        }
        try {
            return Value::restore($text);
        } catch (\Exception $error) {
            return new Undecodable($error);
        } catch (\Throwable $error) {
            return new Undecodable($error);
        }
    }
}
