<?php
namespace Weighbridge;

/**
 * Random numbers that are the same for a seed on every PHP: L'Ecuyer's combined generator of 1988, in floats, where
 * its products are exact whatever the size of integers.
 */
final class Draws
{
    private $first;
    private $second;

    /** @param int|string $seed any text; each gives a sequence of its own */
    public function __construct($seed)
    {
        $digest = md5("weigh $seed");
        $this->first = 1.0 + fmod(hexdec(substr($digest, 0, 12)), 2147483562);
        $this->second = 1.0 + fmod(hexdec(substr($digest, 12, 12)), 2147483398);
    }

    /** @return float above 0 and below 1 */
    public function next()
    {
        $this->first = fmod(40014.0 * $this->first, 2147483563.0);
        $this->second = fmod(40692.0 * $this->second, 2147483399.0);
        $difference = $this->first - $this->second;
        return ($difference < 1.0 ? $difference + 2147483562.0 : $difference) / 2147483563.0;
    }
}
