<?php
/** Sends a content as a page: page.php?content=NAME&way=WAY, with level=L and the options of the way. */

use Weighbridge\Entry;

// A copy of this file in a docroot is told where the rest is.
$home = getenv('WEIGH_PHP_HOME') ?: dirname(__DIR__);
require_once "$home/lib/Entry.php";

Entry::send('page', $home);
