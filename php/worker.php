<?php
/**
 * The PHP worker: reads one JSON request a line on stdin, writes one JSON reply a line on stdout.
 *
 * Everything here and below runs unchanged on PHP 5.5 to the newest, and needs no extension but json
 * and what a PHP is always built with. The lab starts it; it ends when its stdin does.
 */

use Weighbridge\Catalogue;
use Weighbridge\Process;
use Weighbridge\Service;
use Weighbridge\Worker;

require __DIR__ . '/lib/Process.php';
Process::begin('php worker');
$service = new Service('php worker', 'codec');
$service->serve(new Worker(new Catalogue(__DIR__)), fopen('php://stdin', 'r'), fopen('php://stdout', 'w'));
