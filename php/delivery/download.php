<?php
/**
 * Sends a content as a download: download.php?content=NAME&way=WAY, with level=L and the options of the way. With ballast=BYTES the script
 * holds so much memory until it is done, as one does that has loaded a framework.
 */

use Weighbridge\Entry;
use Weighbridge\Query;

// A copy of this file in a docroot is told where the rest is.
$home = getenv('WEIGH_PHP_HOME') ?: dirname(__DIR__);
require_once "$home/lib/Entry.php";

Entry::send('download', $home, function (Query $query) {
    // A global: a local variable that nothing reads is left out by opcache.
    $GLOBALS['ballast'] = str_repeat("\0", $query->number('ballast', 0, 999999999, 0));
});
