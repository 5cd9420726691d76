<?php
/** A download by the PHP library: PHP itself sends it, with ranges and conditional requests. */

use Weighbridge\Delivery;
use Weighbridge\Fault;
use Weighbridge\Library\Download;
use Weighbridge\Library\Settings;

$autoload = dirname(__DIR__) . '/library/autoload.php';

return array(
    'kind' => 'plain',
    'subjects' => array('download'),
    'about' => 'Download::send() of the library: PHP streams the file, with ranges, ETag and conditional requests',
    'missing' => function () {
        return PHP_VERSION_ID >= 70400 ? null : new Fault('missing', 'the library needs PHP 7.4 or newer', 'use a newer PHP');
    },
    'send' => function (Delivery $delivery) use ($autoload) {
        require_once $autoload;
        $path = (string) realpath($delivery->content->path);
        $settings = Settings::fromArray(array('schema' => 1, 'download' => array('method' => 'stream', 'root' => dirname($path))));
        Download::send($path, array('name' => $delivery->content->name), $settings);
    },
);
