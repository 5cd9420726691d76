<?php
/** A file for each key in a private folder, replaced whole. */

use Weighbridge\Files\Store;

return array(
    'about' => 'one file per key, written to a temporary file and renamed; no fsync',
    'library' => function () {
        return 'PHP files ' . PHP_VERSION;
    },
    'missing' => function () {
        return null;
    },
    'schemes' => array(),
    'native' => array('integer', 'text'),
    'shared' => true,
    'open' => function (array $address) {
        return new Store($address);
    },
);
