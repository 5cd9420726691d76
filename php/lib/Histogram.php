<?php
namespace Weighbridge;

/**
 * Counts durations in bins: 128 ns wide below SLOW, and above it 1/256 of their octave.
 *
 * The bins below SLOW are lent to the loop that counts, as a packed array in which it does no more than `$bins[$ns >> 7]`.
 */
final class Histogram
{
    /** Nanoseconds from which on add() counts. */
    const SLOW = 1048576;
    const SHIFT = 7;

    private $bins;
    private $slow = array();
    private $sum = 0;
    private $least;
    private $most;

    public function __construct()
    {
        $this->bins = array_fill(0, self::SLOW >> self::SHIFT, 0);
    }

    /** @return array the bins below SLOW, which are the caller's until it gives them back */
    public function lend()
    {
        $bins = $this->bins;
        $this->bins = null;
        return $bins;
    }

    /**
     * @param array     $bins  as lent, with counts added
     * @param int|float $sum   nanoseconds of all that was counted meanwhile, by add() too
     * @param int|float $least
     * @param int|float $most
     */
    public function take(array $bins, $sum, $least, $most)
    {
        $this->bins = $bins;
        $this->sum += $sum;
        $this->least = $this->least === null ? $least : min($this->least, $least);
        $this->most = $this->most === null ? $most : max($this->most, $most);
    }

    /** Counts one of at least SLOW; its time is in the sum that take() gets. */
    public function add($ns)
    {
        $octave = 20;
        for ($rest = $ns; $rest >= 2 * self::SLOW; $rest /= 2) {
            ++$octave;
        }
        $bin = $octave << 8 | (int) floor(($rest - self::SLOW) / (self::SLOW >> 8));
        $this->slow[$bin] = isset($this->slow[$bin]) ? $this->slow[$bin] + 1 : 1;
    }

    /** Counts one by itself, of any length. */
    public function record($ns)
    {
        if ($ns < self::SLOW) {
            ++$this->bins[$ns >> self::SHIFT];
        } else {
            $this->add($ns);
        }
        $this->sum += $ns;
        $this->least = $this->least === null ? $ns : min($this->least, $ns);
        $this->most = $this->most === null ? $ns : max($this->most, $ns);
    }

    /** @return int how many were counted */
    public function count()
    {
        return array_sum($this->bins) + array_sum($this->slow);
    }

    /** @return array the `HIST` of a reply */
    public function describe()
    {
        $bins = array();
        foreach ($this->bins as $bin => $count) {
            if ($count > 0) {
                $bins[] = array(($bin << self::SHIFT) + (1 << self::SHIFT - 1), $count);
            }
        }
        ksort($this->slow);
        foreach ($this->slow as $bin => $count) {
            $width = pow(2, ($bin >> 8) - 8);
            $bins[] = array((int) ($width * (256.5 + ($bin & 255))), $count);
        }
        $count = $this->count();
        return array(
            'count' => $count,
            'min' => $count > 0 ? $this->least : 0,
            'max' => $count > 0 ? $this->most : 0,
            'sum' => $this->sum,
            'bins' => $bins,
        );
    }
}
