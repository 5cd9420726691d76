<?php
namespace Weighbridge;

/**
 * One operation over all inputs, repeated: what the clock is put round.
 *
 * Each loop is written out for its shape, so that nothing but the operation stands in it. Every result is
 * freed by the next one and the last is kept for the next run: a run of n passes therefore pays for n
 * results and for freeing n, whatever n is.
 */
final class Pass
{
    const MANY = 24;

    private $call;
    private $inputs;
    private $second;
    private $before;
    private $after;
    private $last;
    private $ran = false;

    /**
     * @param callable      $call   what is timed
     * @param array         $inputs its first argument, one an item
     * @param array|null    $second its second argument, one an item; null: it is called with one argument
     * @param callable|null $before applied to each input (a serializer)
     * @param callable|null $after  applied to each output (a deserializer)
     */
    public function __construct($call, array $inputs, $second, $before, $after)
    {
        $this->call = $call;
        $this->inputs = array_values($inputs);
        $this->second = $second;
        $this->before = $before;
        $this->after = $after;
    }

    /** @return array the output for each input, of one pass */
    public function outputs()
    {
        $outputs = array();
        foreach ($this->inputs as $i => $input) {
            $one = new self($this->call, array($input), $this->second ? array($this->second[$i]) : null, $this->before, $this->after);
            $one->run(1);
            $outputs[] = $one->last;
        }
        return $outputs;
    }

    /** @return mixed the output for the last input, of the latest run */
    public function last()
    {
        return $this->last;
    }

    /** @return bool whether fresh memory is touched for few of its inputs */
    public function isOfMany()
    {
        return count($this->inputs) >= self::MANY;
    }

    /** @return bool whether there was a run */
    public function hasRun()
    {
        return $this->ran;
    }

    /** Makes `$times` passes. */
    public function run($times)
    {
        $this->ran = true;
        if ($this->before !== null) {
            $this->second === null ? $this->runBefore($times) : $this->runBeforeSecond($times);
        } elseif ($this->after !== null) {
            $this->second === null ? $this->runAfter($times) : $this->runAfterSecond($times);
        } else {
            $this->second === null ? $this->runPlain($times) : $this->runSecond($times);
        }
    }

    private function runPlain($times)
    {
        list($call, $inputs, $out) = $this->start();
        for (; $times > 0; --$times) {
            foreach ($inputs as $input) {
                $out = $call($input);
            }
        }
        $this->last = $out;
    }

    private function runSecond($times)
    {
        list($call, $inputs, $out) = $this->start();
        $second = $this->second;
        for (; $times > 0; --$times) {
            foreach ($inputs as $i => $input) {
                $out = $call($input, $second[$i]);
            }
        }
        $this->last = $out;
    }

    private function runBefore($times)
    {
        list($call, $inputs, $out) = $this->start();
        $before = $this->before;
        for (; $times > 0; --$times) {
            foreach ($inputs as $input) {
                $out = $call($before($input));
            }
        }
        $this->last = $out;
    }

    private function runBeforeSecond($times)
    {
        list($call, $inputs, $out) = $this->start();
        $before = $this->before;
        $second = $this->second;
        for (; $times > 0; --$times) {
            foreach ($inputs as $i => $input) {
                $out = $call($before($input), $second[$i]);
            }
        }
        $this->last = $out;
    }

    private function runAfter($times)
    {
        list($call, $inputs, $out) = $this->start();
        $after = $this->after;
        for (; $times > 0; --$times) {
            foreach ($inputs as $input) {
                $out = $after($call($input));
            }
        }
        $this->last = $out;
    }

    private function runAfterSecond($times)
    {
        list($call, $inputs, $out) = $this->start();
        $after = $this->after;
        $second = $this->second;
        for (; $times > 0; --$times) {
            foreach ($inputs as $i => $input) {
                $out = $after($call($input, $second[$i]));
            }
        }
        $this->last = $out;
    }

    private function start()
    {
        $out = $this->last;
        $this->last = null;
        return array($this->call, $this->inputs, $out);
    }
}
