<?php
namespace Weighbridge;

/** What one timed run took: nanoseconds of all its passes together. */
final class Span
{
    public $times;
    public $cpu;
    public $wall;

    public function __construct($times, $cpu, $wall)
    {
        $this->times = $times;
        $this->cpu = $cpu;
        $this->wall = $wall;
    }
}
