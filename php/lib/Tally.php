<?php
namespace Weighbridge;

/** What one run of transactions came to: times, and everything that did not go as it should. */
final class Tally
{
    /** This many failures one after the other end a run. */
    const GIVE_UP = 50;
    /** And this many times the time limit of one answer, when failures follow one another so long. */
    const GIVE_UP_TIMEOUTS = 3;
    const KINDS = 5;

    /** Histograms of the time inside the calls, and from the scheduled send (null without a rate). */
    public $puts;
    public $gets;
    public $putResponses;
    public $getResponses;
    /** Why the run was given up, or null. */
    public $aborted;
    /** Transactions that were never sent. */
    public $dropped = 0;
    private $failedWrites = 0;
    private $failedReads = 0;
    private $misses = 0;
    private $wrong = 0;
    private $faults = array();
    /** The number of the latest failed transaction. */
    private $latest = -2;
    private $row = 0;
    private $rowBegan;
    private $patience;

    /**
     * @param float $timeout   seconds, of one answer
     * @param bool  $scheduled whether there is a rate
     */
    public function __construct($timeout, $scheduled)
    {
        $this->puts = new Histogram();
        $this->gets = new Histogram();
        $this->putResponses = $scheduled ? new Histogram() : null;
        $this->getResponses = $scheduled ? new Histogram() : null;
        $this->patience = self::GIVE_UP_TIMEOUTS * $timeout * 1e9;
    }

    /**
     * @param int                   $i     the transaction's number
     * @param \Exception|\Throwable $error what the driver threw
     */
    public function fail($i, $write, $error)
    {
        if ($write) {
            ++$this->failedWrites;
        } else {
            ++$this->failedReads;
        }
        $message = $this->note($error->getMessage());
        if ($this->latest !== $i - 1) {
            $this->row = 0;
            $this->rowBegan = hrtime(true);
        }
        $this->latest = $i;
        ++$this->row;
        if ($this->row >= self::GIVE_UP || hrtime(true) - $this->rowBegan > $this->patience) {
            $this->aborted = "given up after {$this->row} failures in a row: $message";
        }
    }

    /** Of a transaction with a rate: nanoseconds from when it was due. */
    public function respond($write, $ns)
    {
        if ($write) {
            $this->putResponses->record($ns);
        } else {
            $this->getResponses->record($ns);
        }
    }

    /** Of a read that did not give the value itself: there was none, it is alike, or it is wrong. */
    public function judge($found, $number, Stored $stored)
    {
        if ($found === null) {
            ++$this->misses;
        } elseif (!$stored->matches($found, $number)) {
            ++$this->wrong;
            if ($found instanceof Undecodable) {
                $this->note($found->reason);
            }
        }
    }

    /** @return string|null the first message of a failure */
    public function firstFault()
    {
        return $this->faults ? key($this->faults) : null;
    }

    /** @return array the counts, histograms and faults of a reply */
    public function describe()
    {
        $faults = array();
        foreach ($this->faults as $message => $count) {
            $faults[] = array('message' => (string) $message, 'count' => $count);
        }
        $reads = $this->gets->count();
        return array(
            'writes' => array('count' => $this->puts->count() + $this->failedWrites, 'failed' => $this->failedWrites),
            'reads' => array(
                'count' => $reads + $this->failedReads,
                'failed' => $this->failedReads,
                'hits' => $reads - $this->misses,
                'misses' => $this->misses,
                'wrong' => $this->wrong,
            ),
            'put' => $this->puts->describe(),
            'get' => $this->gets->describe(),
            'put_response' => $this->putResponses === null ? null : $this->putResponses->describe(),
            'get_response' => $this->getResponses === null ? null : $this->getResponses->describe(),
            'dropped' => $this->dropped,
            'faults' => $faults,
            'aborted' => $this->aborted,
        );
    }

    private function note($message)
    {
        $message = Text::line($message);
        $kind = isset($this->faults[$message]) || count($this->faults) < self::KINDS - 1 ? $message : 'other failures';
        $this->faults[$kind] = isset($this->faults[$kind]) ? $this->faults[$kind] + 1 : 1;
        return $message;
    }
}
