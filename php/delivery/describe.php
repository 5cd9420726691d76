<?php
/** What this PHP is and which ways it has, as JSON: version, sapi, facts, ways. */

use Weighbridge\Entry;
use Weighbridge\Facts;
use Weighbridge\Ways;

// A copy of this file in a docroot is told where the rest is.
$home = getenv('WEIGH_PHP_HOME') ?: dirname(__DIR__);
require_once "$home/lib/Entry.php";

Entry::run(function () use ($home) {
    $ways = new Ways($home);
    $description = array(
        'runtime' => 'php',
        'version' => PHP_VERSION,
        'sapi' => PHP_SAPI,
        'facts' => Facts::ofDelivery(),
        'ways' => $ways->describe(),
    );
    $json = json_encode($description, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
    header('Content-Type: application/json');
    header('Content-Length: ' . strlen($json));
    echo $json;
});
