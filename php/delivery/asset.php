<?php
/** Sends a content as a asset: asset.php?content=NAME&way=WAY, with level=L and the options of the way. */

use Weighbridge\Content;
use Weighbridge\Entry;
use Weighbridge\Query;
use Weighbridge\Ways;

// A copy of this file in a docroot is told where the rest is.
$home = getenv('WEIGH_PHP_HOME') ?: dirname(__DIR__);
require_once "$home/lib/Entry.php";

Entry::run(function (Query $query) use ($home) {
    $ways = new Ways($home);
    $content = new Content($query->text('content'));
    $ways->way($query->text('way'))->send('asset', $content, $query->params());
});
