<?php
/** A small dynamic page of some 3 KB, the same at each request: what else a site does while downloads go out. */

use Weighbridge\Entry;

// A copy of this file in a docroot is told where the rest is.
$home = getenv('WEIGH_PHP_HOME') ?: dirname(__DIR__);
require_once "$home/lib/Entry.php";

Entry::run(function () {
    $rows = '';
    for ($i = 1; $i <= 30; ++$i) {
        $name = htmlspecialchars('Item ' . substr(md5("item $i"), 0, 12) . ' <' . $i % 7 . '>');
        $rows .= sprintf("<tr><td>%d</td><td>%s</td><td>%.2f</td></tr>\n", $i, $name, $i * 7919 % 1000 / 10);
    }
    $page = "<!doctype html>\n<html><head><title>Items</title></head><body><h1>Items</h1>\n"
        . "<table><tr><th>No.</th><th>Name</th><th>Price</th></tr>\n$rows</table>\n</body></html>\n";
    header('Content-Type: text/html; charset=utf-8');
    header('Content-Length: ' . strlen($page));
    echo $page;
});
