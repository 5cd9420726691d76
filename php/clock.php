<?php
/**
 * hrtime() for the classes of this project in a PHP before 7.3: nanoseconds that never go back, from a clock that
 * steps by a microsecond.
 */

namespace Weighbridge;

function hrtime()
{
    static $latest = 0;
    $latest = max($latest, (int) (microtime(true) * 1e6) * 1000);
    return $latest;
}
