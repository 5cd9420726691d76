<?php
namespace Weighbridge;

/** The instants at which the transactions of a fixed rate are due, and the waiting for them. */
final class Schedule
{
    /**
     * A sleep of the kernel ends some 60 microseconds late; what is left of the way is spun. Spinning takes CPU time,
     * which is told.
     */
    const SPIN_NS = 80000;
    /** A run ends at this many times its scheduled length. */
    const LATEST = 1.5;

    /** Nanoseconds spent spinning. */
    public $spun = 0;
    /** When the current transaction was due. */
    public $due;
    private $gap;
    private $start;
    private $end;

    /**
     * @param float $rate         transactions per second
     * @param int   $transactions in all
     */
    public function __construct($rate, $transactions)
    {
        $this->gap = 1e9 / $rate;
        $this->start = hrtime(true);
        $this->end = $this->start + self::LATEST * $transactions * $this->gap;
    }

    /** Waits for the transaction of that number. @return bool false when the run is over instead */
    public function await($i)
    {
        $this->due = $this->start + (int) ($i * $this->gap);
        $now = hrtime(true);
        if ($now > $this->end) {
            return false;
        }
        $left = $this->due - $now;
        if ($left > self::SPIN_NS) {
            usleep((int) (($left - self::SPIN_NS) / 1000));
            $now = hrtime(true);
        }
        if ($now < $this->due) {
            $began = $now;
            do {
                $now = hrtime(true);
            } while ($now < $this->due);
            $this->spun += $now - $began;
        }
        return true;
    }
}
