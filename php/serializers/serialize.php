<?php
/** PHP's own serialize(). The values are known to hold no class but stdClass, so nothing is restricted here. */

return array(
    'missing' => function () {
        return null;
    },
    'library' => function () {
        return 'PHP ' . PHP_VERSION;
    },
    'pack' => 'serialize',
    'unpack' => 'unserialize',
);
