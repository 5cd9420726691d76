<?php

declare(strict_types=1);

use Weighbridge\Library\Download;
use Weighbridge\Library\OutputHandler;
use Weighbridge\Library\Settings;

require __DIR__ . '/../../autoload.php';

if (isset($_GET['encoded'])) {
    OutputHandler::start();
    echo 'printed before, and dropped';
    header('Content-Encoding: gzip');
    header('Content-Length: 5');
}
if (isset($_GET['session'])) {
    session_start();
}
ini_set('memory_limit', '4M');
$method = (string) ($_GET['method'] ?? 'auto');
$settings = Settings::fromArray(['download' => ['method' => $method, 'prefix' => '/internal']]);
$options = ['root' => (string) getenv('WEIGHBRIDGE_ROOT'), 'type' => 'text/plain'];
foreach (array_intersect_key($_GET, ['name' => '', 'cache_control' => '']) as $key => $value) {
    $options[$key] = $value;
}
Download::send((string) $_GET['path'], $options, $settings);
if (isset($_GET['session']) && session_status() === PHP_SESSION_ACTIVE) {
    echo 'the session is held';
}
