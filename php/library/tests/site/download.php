<?php

declare(strict_types=1);

use Weighbridge\Library\Download;
use Weighbridge\Library\OutputHandler;
use Weighbridge\Library\Settings;

require __DIR__ . '/../../autoload.php';

if (isset($_GET['encoded'])) {
    OutputHandler::start();
    echo 'printed before, and dropped';
}
ini_set('memory_limit', '4M');
$method = (string) ($_GET['method'] ?? 'auto');
$settings = Settings::fromArray(['download' => ['method' => $method, 'prefix' => '/internal']]);
$options = ['root' => (string) getenv('WEIGHBRIDGE_ROOT'), 'type' => 'text/plain'];
if (isset($_GET['name'])) {
    $options['name'] = $_GET['name'];
}
Download::send((string) $_GET['path'], $options, $settings);
