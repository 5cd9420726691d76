<?php
/**
 * The client worker: connects to a cache or database through a driver and makes transactions, timing itself. It reads
 * one JSON request a line on stdin and writes one JSON reply a line on stdout, as worker.php does.
 *
 * Everything here and below runs unchanged on PHP 5.5 to the newest. The lab starts a fresh one for every block; it
 * ends when its stdin does.
 */

use Weighbridge\Catalogue;
use Weighbridge\ClientWorker;
use Weighbridge\Drivers;
use Weighbridge\Process;
use Weighbridge\Service;

require __DIR__ . '/lib/Process.php';
Process::begin('php client');
if (!function_exists('hrtime')) {
    require __DIR__ . '/clock.php';
}
// The lab lays the stores below this folder; in the repository they stand beside it.
$stores = is_dir(__DIR__ . '/stores') ? __DIR__ . '/stores' : dirname(__DIR__) . '/stores';
$service = new Service('php client', 'response');
$worker = new ClientWorker(new Catalogue(__DIR__), new Drivers($stores));
$service->serve($worker, fopen('php://stdin', 'r'), fopen('php://stdout', 'w'));
