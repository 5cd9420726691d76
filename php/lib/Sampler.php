<?php
namespace Weighbridge;

/** Takes the samples of a phase: how many, how large, and when to stop is the request's. */
final class Sampler
{
    /**
     * A first call that takes more CPU time counts as the first sample: a warm-up changes nothing in it. Wall time
     * would not do, for a short call may have had to wait that long.
     */
    const LONG_NS = 300e6;

    /**
     * A pass that takes longer needs no second warm-up: touching fresh memory is under 1% of it. Of a pass over many inputs
     * only the first has fresh memory, so that it counts as a sample.
     */
    const SHORT_NS = 30e6;

    /**
     * How long a quick pass is repeated before its first sample: over some six to eight passes the processor learns a
     * content (its branches, its lines in the caches), and the first of them take up to 1.7 times as long.
     */
    const WARM_NS = 2e6;

    private $samples;
    private $budget;
    private $minBatch;
    private $maxBatch;

    public function __construct(Request $request)
    {
        $this->samples = $request->number('samples', 1);
        $this->budget = $request->number('budget_ns', 0);
        $this->minBatch = $request->number('min_batch_ns', 0);
        $this->maxBatch = $request->number('max_batch_ns', 0);
    }

    /**
     * @param Span|null $first a run that was timed already and counts as the first sample
     * @return array the phase's `Samples`
     */
    public function take(Pass $pass, $first = null)
    {
        $span = $first ?: $this->calibrate($pass);
        $batch = $span->times;
        $cpu = array();
        $wall = array();
        $preempted = 0;
        $spent = 0;
        while (true) {
            $cpu[] = round($span->cpu / $batch, 1);
            $wall[] = round($span->wall / $batch, 1);
            $preempted += $span->preempted;
            $spent += $span->wall;
            if (count($cpu) >= $this->samples || $spent >= $this->budget) {
                break;
            }
            $span = Clock::time($pass, $batch);
        }
        return array(
            'batch' => $batch,
            'cpu_ns' => $cpu,
            'wall_ns' => $wall,
            'preempted' => $preempted,
        );
    }

    /**
     * Finds the batch, and returns the run that had it as the first sample.
     *
     * The lower bound is held against CPU time, because that is the coarser clock and the one that does not
     * run while the process waits: a batch found during a preemption would otherwise be too short for ever.
     */
    private function calibrate(Pass $pass)
    {
        $span = Clock::time($pass, 1);
        if ($span->cpu > ($pass->isOfMany() ? self::SHORT_NS : self::LONG_NS)) {
            return $span;
        }
        if ($span->cpu < self::SHORT_NS) {
            // From the second pass on two results are alive at once, and only then is their memory warm.
            $until = Clock::wall() + self::WARM_NS;
            do {
                $pass->run(1);
            } while (Clock::wall() < $until);
        }
        $times = 1;
        while (true) {
            $span = Clock::time($pass, $times);
            $each = max(1, $span->wall / $times);
            $most = max(1, (int) floor($this->maxBatch / $each));
            if ($span->cpu >= $this->minBatch || $times >= $most) {
                return $span;
            }
            // A tenth more than seems needed, and at most tenfold, because short runs are poor forecasts.
            $wanted = $span->cpu > 0 ? ceil($times * 1.1 * $this->minBatch / $span->cpu) : $times * 10;
            $times = (int) min($most, max($times + 1, min($wanted, $times * 10)));
        }
    }
}
