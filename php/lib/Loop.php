<?php
namespace Weighbridge;

/**
 * The transactions of one worker, one after the other. Everything that can be made beforehand is, so that little but
 * the driver's own work stands between two of them, and nothing else between the two readings of the clock.
 */
final class Loop
{
    private $keys;
    private $stored;
    private $writeEvery;
    private $sequence;
    private $names = array();
    private $values = array();
    private $wants = array();
    private $unseen;

    /** Reads of values of many parts that pass unseen after one that is compared: comparing takes as long as a tenth of a read. */
    const UNSEEN = 7;

    /** @param int $writeEvery every so manieth transaction is a write, the first one is; 0: none */
    public function __construct(Keys $keys, Stored $stored, $writeEvery)
    {
        $this->keys = $keys;
        $this->stored = $stored;
        $this->writeEvery = $writeEvery;
        $this->sequence = $keys->sequence();
        $names = array();
        foreach ($this->sequence as $number) {
            if (!isset($names[$number])) {
                $names[$number] = $keys->name($number);
            }
            $this->names[] = $names[$number];
            $this->values[] = $stored->of($number);
        }
        $this->wants = $this->values;
        $this->unseen = is_scalar($this->values[0]) ? 0 : self::UNSEEN;
    }

    /** @return array the numbers of the keys, in the order in which they come */
    public function sequence()
    {
        return $this->sequence;
    }

    /** Tells what a read gives, so that integers that come as digits need no conversion each time. */
    public function expectLike($found)
    {
        if (is_string($found)) {
            $this->wants = array_map('strval', $this->wants);
        }
    }

    /** @return array a loop of the same mix, and a driver that does nothing, all of whose reads that loop finds right */
    public function idle()
    {
        $loop = clone $this;
        $loop->keys = $this->keys->held();
        if ($loop->keys->areNew()) {
            $loop->renew();
        }
        $want = $loop->wants[0];
        $loop->wants = array_fill(0, count($loop->wants), $want);
        // A copy, so that comparing it takes as long as with what a store gives.
        return array($loop, new Idle(unserialize(serialize($want))));
    }

    /**
     * One loop for all mixes: a write or a read, its time into the bins of its kind, and the next. It is written out in one
     * piece, because a call of a function takes as long as a tenth of all that it does.
     *
     * @SuppressWarnings(PHPMD.CyclomaticComplexity)
     * @SuppressWarnings(PHPMD.NPathComplexity)
     * @param Connection|null $connection null: nothing can fail
     * @param object          $driver     what transactions go to
     * @param Schedule|null   $schedule   null: each is sent when the one before it is done
     */
    public function run($connection, $driver, Tally $tally, $transactions, $schedule)
    {
        list($names, $values, $wants, $size) = array($this->names, $this->values, $this->wants, count($this->names));
        $fresh = $this->keys->areNew();
        $rest = $this->writeEvery - 1;
        $unseen = $this->unseen;
        $look = 0;
        $untilWrite = min($rest, 0);
        // The bin is found as in Histogram::bin().
        list($short, $medium, $slow) = array(Histogram::SHORT, Histogram::MEDIUM, Histogram::SLOW);
        list($putBins, $getBins) = array($tally->puts->lend(), $tally->gets->lend());
        $putSum = $getSum = $putMost = $getMost = $at = 0;
        $putLeast = $getLeast = PHP_INT_MAX;
        for ($i = 0; $i < $transactions; ++$i) {
            if ($schedule !== null && !$schedule->await($i)) {
                break;
            }
            try {
                if ($untilWrite === 0) {
                    $untilWrite = $rest;
                    if ($fresh) {
                        list($names, $values, $wants) = $this->renew();
                    }
                    $sent = hrtime(true);
                    $driver->put($names[$at], $values[$at]);
                    $took = hrtime(true) - $sent;
                    $putSum += $took;
                    $took < $putLeast && $putLeast = $took;
                    $took > $putMost && $putMost = $took;
                    if ($took < $slow) {
                        ++$putBins[$took < $short ? $took >> 4 : ($took < $medium ? 512 + ($took >> 5) : 4096 + ($took >> 8))];
                    } else {
                        $tally->puts->add($took);
                    }
                } else {
                    --$untilWrite;
                    $sent = hrtime(true);
                    $found = $driver->get($names[$at]);
                    $took = hrtime(true) - $sent;
                    $getSum += $took;
                    $took < $getLeast && $getLeast = $took;
                    $took > $getMost && $getMost = $took;
                    if ($took < $slow) {
                        ++$getBins[$took < $short ? $took >> 4 : ($took < $medium ? 512 + ($took >> 5) : 4096 + ($took >> 8))];
                    } else {
                        $tally->gets->add($took);
                    }
                    if (--$look < 0 || $found === null || $found instanceof Undecodable) {
                        $look = $unseen;
                        if ($found !== $wants[$at]) {
                            $tally->judge($found, $this->sequence[$at], $this->stored);
                        }
                    }
                }
                if ($schedule !== null) {
                    $tally->respond($untilWrite === $rest, $sent + $took - $schedule->due);
                }
            } catch (\Exception $error) {
                $driver = $this->recover($connection, $tally, $i, $untilWrite === $rest, $error);
            } catch (\Throwable $error) {
                $driver = $this->recover($connection, $tally, $i, $untilWrite === $rest, $error);
            }
            if ($driver === null) {
                ++$i;
                break;
            }
            if (++$at === $size) {
                $at = 0;
            }
        }
        $tally->puts->take($putBins, $putSum, $putLeast, $putMost);
        $tally->gets->take($getBins, $getSum, $getLeast, $getMost);
        $tally->dropped = $schedule === null ? 0 : $transactions - $i;
    }

    /** @return object|null what transactions go to from now on; null: the run is given up */
    private function recover(Connection $connection, Tally $tally, $i, $write, $error)
    {
        $tally->fail($i, $write, $error);
        return $tally->aborted === null ? $connection->after($error) : null;
    }

    /** @return array the only name, value and wanted value, of a new key */
    private function renew()
    {
        $number = $this->keys->another();
        $this->sequence = array($number);
        $this->names = array($this->keys->name($number));
        $this->values = array($this->stored->of($number));
        $this->wants = is_string($this->wants[0]) ? array_map('strval', $this->values) : $this->values;
        return array($this->names, $this->values, $this->wants);
    }
}
