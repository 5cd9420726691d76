<?php
namespace Weighbridge;

/** Puts the clocks round passes: wall time, and what getrusage() tells of this process. */
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

    /** @return Span of one run of `$times` passes */
    public static function time(Pass $pass, $times)
    {
        // Figures are taken apart afterwards, so that only the two system calls stand round the run.
        $before = getrusage();
        $wall = self::wall();
        $pass->run($times);
        $wall = self::wall() - $wall;
        return new Span($times, $wall, $before, getrusage());
    }

    /** @return array the outputs of one pass for every input, and the Span it took */
    public static function timeOutputs(Pass $pass)
    {
        $before = getrusage();
        $wall = self::wall();
        $outputs = $pass->outputs();
        $wall = self::wall() - $wall;
        return array($outputs, new Span(1, $wall, $before, getrusage()));
    }
}
