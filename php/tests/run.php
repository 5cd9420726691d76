<?php
/**
 * Tests of the PHP side, driven from outside: the worker through its protocol, entry scripts over HTTP and FastCGI.
 * Needs nothing but a PHP; where there is its PHP-FPM too, more is tested.
 *
 *     php php/tests/run.php [PHP-BINARY]     the PHP under test; without it, the one that runs this
 *
 * With WEIGH_STRICT=1 a skip counts as a failure unless the test says that it is to be expected everywhere.
 */

ini_set('display_errors', 'stderr');
error_reporting(E_ALL & ~E_DEPRECATED);
set_error_handler(function ($severity, $message, $file, $line) {
    if ((error_reporting() & $severity) === 0) {
        return true;
    }
    throw new ErrorException($message, 0, $severity, $file, $line);
});

foreach (glob(__DIR__ . '/lib/*.php') as $file) {
    require $file;
}
require dirname(__DIR__) . '/lib/Classes.php';
Weighbridge\Classes::here();

$binary = isset($argv[1]) ? $argv[1] : PHP_BINARY;
$folder = new Folder();
$runner = new Runner(getenv('WEIGH_STRICT') === '1');
foreach (glob(__DIR__ . '/cases/*.php') as $file) {
    $define = require $file;
    $define($runner, new Lab($binary, dirname(__DIR__), $folder), $binary);
}
$status = $runner->report();
$folder->remove();
exit($status);
