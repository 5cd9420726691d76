<?php
/** Memcached's text protocol over a plain stream: needs no extension, so it runs in every PHP. */

use Weighbridge\Memcached\TextProtocol;

return array(
    'about' => 'the text protocol over a plain stream, in plain PHP; numbers are returned as strings',
    'library' => function () {
        return 'PHP streams ' . PHP_VERSION;
    },
    'missing' => function () {
        return null;
    },
    'schemes' => array('unix', 'tcp'),
    'native' => array('integer', 'text'),
    'shared' => true,
    'open' => function (array $address, $timeout) {
        return new TextProtocol($address, $timeout);
    },
);
