<?php
/**
 * Burns a known CPU time: burn.php?ms=N, 0 to 5000. The header says how many milliseconds it became, so that a meter of
 * the server's CPU time can be held against it.
 */

use Weighbridge\Burner;
use Weighbridge\Entry;
use Weighbridge\Query;

// A copy of this file in a docroot is told where the rest is.
$home = getenv('WEIGH_PHP_HOME') ?: dirname(__DIR__);
require_once "$home/lib/Entry.php";

Entry::run(function (Query $query) {
    $burned = Burner::burn($query->number('ms', 0, 5000, 20))->figures();
    header('Content-Type: text/plain');
    header("X-Weigh-Burned: {$burned['total']}; user={$burned['user']}; system={$burned['system']}");
    header('Content-Length: 7');
    echo "burned\n";
});
