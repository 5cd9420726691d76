<?php

declare(strict_types=1);

/** The CPU time of this process. */
final class Cpu
{
    /** Microseconds in user and system mode. */
    public static function now(): float
    {
        $usage = getrusage();
        $seconds = $usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec'];
        return $seconds * 1e6 + $usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec'];
    }
}
