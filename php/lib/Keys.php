<?php
namespace Weighbridge;

/**
 * The keys of one worker: which it fills, in which order it goes through them, and which it takes away in the end.
 * A key is a number behind the run's prefix.
 */
final class Keys
{
    /**
     * The order is drawn beforehand and gone through again and again. The length is a prime, so that a write every w
     * transactions falls on other keys each time round.
     */
    const CYCLE = 8191;
    const MOST = 100000000;

    private $kind;
    private $count;
    private $exponent;
    private $prefix;
    private $worker;
    private $workers;
    private $seed;
    /** The number of the next new key, of kind `new`, and how far the one after it is. */
    private $next;
    private $step;
    /** Keys of a worker, of kind `one`: as many as there are values. */
    private $own = 1;

    /** @param bool $shared false: no other worker sees the store, so that all keys are this one's to fill */
    public function __construct(Request $request, $shared)
    {
        $this->readKind($request->partOrNull('keys'));
        $this->prefix = $request->text('prefix');
        if (!preg_match('/^[A-Za-z0-9:._-]{1,100}$/D', $this->prefix)) {
            throw new Fault('parameter', 'the prefix must be 1 to 100 letters, digits, colons, dots, lines');
        }
        $this->worker = (int) $request->number('worker', 0);
        $this->workers = (int) $request->number('workers', 1);
        if ($this->worker >= $this->workers) {
            throw new Fault('parameter', "worker {$this->worker} of {$this->workers}: workers are counted from 0");
        }
        $this->seed = $request->number('seed', 0);
        $this->next = $this->worker;
        $this->step = $this->workers;
        if (!$shared && $this->spread()) {
            $this->worker = 0;
            $this->workers = 1;
        }
    }

    /** Takes this many values: where each worker has one key, it has one for each of them. */
    public function hold($values)
    {
        $this->own = $values;
    }

    /** @return string the key of a number */
    public function name($number)
    {
        return $this->prefix . $number;
    }

    /** @return bool whether each write makes a new key */
    public function areNew()
    {
        return $this->kind === 'new';
    }

    /** @return int the number of a key that was never there */
    public function another()
    {
        $number = $this->next;
        $this->next += $this->step;
        return $number;
    }

    /** @return Keys that make no further new one */
    public function held()
    {
        $held = clone $this;
        $held->step = 0;
        return $held;
    }

    /** @return \Generator the numbers of the keys that this worker fills */
    public function share()
    {
        $own = $this->worker + ($this->own - 1) * $this->workers + 1;
        $end = $this->spread() ? $this->count : ($this->areNew() ? 0 : $own);
        for ($number = $this->worker; $number < $end; $number += $this->workers) {
            yield $number;
        }
    }

    /** @return array the numbers of the keys in the order of the transactions; with new keys one place for the latest */
    public function sequence()
    {
        if (!$this->spread()) {
            return $this->areNew() || $this->own === 1 ? array($this->worker) : $this->turns();
        }
        $draws = new Draws($this->seed . ' ' . $this->next);
        $numbers = array();
        for ($i = 0; $i < self::CYCLE; ++$i) {
            $numbers[] = $draws->next();
        }
        if ($this->kind === 'zipf') {
            return Zipf::ranks($this->count, $this->exponent, $numbers);
        }
        foreach ($numbers as $i => $draw) {
            $numbers[$i] = (int) floor($draw * $this->count);
        }
        return $numbers;
    }

    /** @return \Generator the numbers of all keys that this worker may have written, some of them twice */
    public function written(array $sequence)
    {
        if ($this->areNew()) {
            for ($number = $this->worker; $number < $this->next; $number += $this->workers) {
                yield $number;
            }
            return;
        }
        foreach ($this->share() as $number) {
            yield $number;
        }
        foreach (array_unique($sequence) as $number) {
            yield $number;
        }
    }

    /** @param Request|null $keys the request's `keys` */
    private function readKind($keys)
    {
        if ($keys === null) {
            throw new Fault('parameter', 'the request lacks `keys`');
        }
        $this->kind = $keys->text('kind');
        if (!in_array($this->kind, array('one', 'uniform', 'zipf', 'new'), true)) {
            throw new Fault('parameter', "unknown kind of keys `{$this->kind}`; use one, uniform, zipf or new");
        }
        $this->count = $this->spread() ? (int) min($keys->number('count', 1), PHP_INT_MAX) : 1;
        if ($this->count > self::MOST) {
            throw new Fault('parameter', "a key space of {$this->count} is too large; the most is " . self::MOST);
        }
        $this->exponent = $this->kind === 'zipf' ? (float) $keys->number('exponent', 0) : 0.0;
    }

    /**
     * One key after the other. Each turn begins one key further on, so that a write every w transactions falls on other
     * keys each time round; and none follows itself.
     */
    private function turns()
    {
        $numbers = array();
        $turns = min($this->own, max(3, (int) (self::CYCLE / $this->own)));
        for ($turn = 0; $turn < $turns; ++$turn) {
            for ($i = 0; $i < $this->own; ++$i) {
                $numbers[] = $this->worker + ($turn + $i) % $this->own * $this->workers;
            }
        }
        return $numbers;
    }

    private function spread()
    {
        return $this->kind === 'uniform' || $this->kind === 'zipf';
    }
}
