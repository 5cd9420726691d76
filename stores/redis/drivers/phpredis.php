<?php
/** The redis extension (phpredis) with default options: no serializer, no compression. */

use Weighbridge\Extension;
use Weighbridge\Redis\PhpRedis;

return array(
    'about' => 'the redis extension without serializer and compression (the default); numbers are returned as strings',
    'library' => function () {
        return 'phpredis ' . phpversion('redis');
    },
    'missing' => function () {
        return Extension::missingClass('redis', 'Redis');
    },
    'schemes' => array('unix', 'tcp'),
    'native' => array('integer', 'text'),
    'extension' => true,
    'shared' => true,
    'open' => function (array $address, $timeout) {
        return new PhpRedis($address, $timeout);
    },
);
