<?php
namespace Weighbridge\Scripted;

/** Every seventh read takes the last of the delays, every other one the first. */
final class Store
{
    private $values = array();
    private $micros;
    private $truth;
    private $took = array();

    /**
     * @param string[] $micros the delays, in microseconds
     * @param string $truth the file that the nanoseconds of each read go to, one a line
     */
    public function __construct(array $micros, $truth)
    {
        $this->micros = $micros;
        $this->truth = $truth;
    }

    public function put($key, $value)
    {
        $this->values[$key] = $value;
    }

    /** @return mixed null when there is none */
    public function get($key)
    {
        $began = hrtime(true);
        $late = count($this->took) % 7 === 3;
        $due = $began + 1000 * ($late ? end($this->micros) : $this->micros[0]);
        do {
            $now = hrtime(true);
        } while ($now < $due);
        $this->took[] = $now - $began;
        return isset($this->values[$key]) ? $this->values[$key] : null;
    }

    /** @return bool whether it was there */
    public function remove($key)
    {
        $was = isset($this->values[$key]);
        unset($this->values[$key]);
        return $was;
    }

    /** @return null: there is no server */
    public function server()
    {
        return null;
    }

    public function close()
    {
    }

    public function __destruct()
    {
        file_put_contents($this->truth, implode("\n", $this->took));
    }
}
