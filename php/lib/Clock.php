<?php
namespace Weighbridge;

/** Wall time, CPU time of this process and its involuntary context switches. */
final class Clock
{
    /** @return string the clock that wall() reads */
    public static function name()
    {
        return function_exists('hrtime') ? 'hrtime' : 'microtime';
    }

    /** @return int|float nanoseconds from an arbitrary start */
    public static function wall()
    {
        // hrtime came with PHP 7.3; before it the finest clock steps by a microsecond and follows the date.
        return function_exists('hrtime') ? hrtime(true) : microtime(true) * 1e9;
    }

    /** @return float nanoseconds of CPU time, user and system; the kernel reports whole microseconds */
    public static function cpu()
    {
        $usage = getrusage();
        return ($usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec']) * 1e9
            + ($usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']) * 1e3;
    }

    /** @return int involuntary context switches so far */
    public static function preempted()
    {
        $usage = getrusage();
        return $usage['ru_nivcsw'];
    }

    /** @return Span of one run of `$times` passes */
    public static function time(Pass $pass, $times)
    {
        $cpu = self::cpu();
        $wall = self::wall();
        $pass->run($times);
        $wall = self::wall() - $wall;
        return new Span($times, self::cpu() - $cpu, $wall);
    }

    /** @return array the outputs of one pass for every input, and the Span it took */
    public static function timeOutputs(Pass $pass)
    {
        $cpu = self::cpu();
        $wall = self::wall();
        $outputs = $pass->outputs();
        $wall = self::wall() - $wall;
        return array($outputs, new Span(1, self::cpu() - $cpu, $wall));
    }
}
