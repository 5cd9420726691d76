<?php
namespace Weighbridge;

/**
 * Counts durations in bins: 16 ns wide below SHORT, 32 ns below MEDIUM, 256 ns below SLOW, and above it 1/512 of their octave: no
 * bin's middle is further than 8 ns or 0.1% from what it counts.
 *
 * The bins below SLOW are lent to the loop that counts, as a packed array in which it finds the bin by itself, as bin() does.
 */
final class Histogram
{
    /** Nanoseconds from which on add() counts. */
    const SLOW = 1048576;
    /** Nanoseconds below which bins are 16 ns wide, and below which they are 32 ns wide. */
    const SHORT = 16384;
    const MEDIUM = 131072;
    /** Bins below SLOW. */
    const BINS = 8192;

    private $bins;
    private $slow = array();
    private $sum = 0;
    private $least;
    private $most;

    public function __construct()
    {
        $this->bins = array_fill(0, self::BINS, 0);
    }

    /** @return int the bin of a duration below SLOW */
    public static function bin($ns)
    {
        return $ns < self::SHORT ? $ns >> 4 : ($ns < self::MEDIUM ? 512 + ($ns >> 5) : 4096 + ($ns >> 8));
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
        $bin = $octave << 9 | (int) floor(($rest - self::SLOW) / (self::SLOW >> 9));
        $this->slow[$bin] = isset($this->slow[$bin]) ? $this->slow[$bin] + 1 : 1;
    }

    /** Counts one by itself, of any length. */
    public function record($ns)
    {
        if ($ns < self::SLOW) {
            ++$this->bins[self::bin($ns)];
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
                $bins[] = array(self::middle($bin), $count);
            }
        }
        ksort($this->slow);
        foreach ($this->slow as $bin => $count) {
            $width = pow(2, ($bin >> 9) - 9);
            $bins[] = array((int) ($width * (512.5 + ($bin & 511))), $count);
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

    /** @return int nanoseconds in the middle of a bin below SLOW */
    private static function middle($bin)
    {
        if ($bin < 1024) {
            return ($bin << 4) + 8;
        }
        return $bin < 4608 ? ($bin - 512 << 5) + 16 : ($bin - 4096 << 8) + 128;
    }
}
