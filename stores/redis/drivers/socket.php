<?php
/** Redis's own protocol over a plain stream: needs no extension, so it runs in every PHP. */

use Weighbridge\Redis\Resp;

return array(
    'about' => 'RESP2 over a plain stream, in plain PHP; numbers are returned as strings',
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
        return new Resp($address, $timeout);
    },
);
