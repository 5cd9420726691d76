<?php
/** DEFLATE in the gzip container through PHP's zlib extension (memLevel 9, window 15). */

use Weighbridge\Coder;
use Weighbridge\Extension;
use Weighbridge\Params;

return array(
    'format' => 'gzip',
    'sets' => array('web'),
    // PHP takes -1 for zlib's own default, which is 6.
    'levels' => array('min' => -1, 'max' => 9, 'default' => 6, 'representative' => array(1, 4, 6, 9)),
    'nominal' => array(array(0, 800.0), array(1, 85.0), array(4, 45.0), array(6, 18.0), array(9, 9.0)),
    'bindings' => array(
        'extension' => array(
            'missing' => function () {
                return Extension::missing('zlib', 'gzencode');
            },
            'library' => function () {
                return Extension::library('zlib', 'zlib', array('Linked Version'));
            },
            'coder' => function (Params $params) {
                // Timed as people call it, without a greatest length. For verification there is one; the
                // margin is there because some versions refuse an output that fills it exactly.
                $bounded = function ($encoded, $length) {
                    return gzdecode($encoded, $length + 64);
                };
                return new Coder(array('gzencode', $params->level), array('gzdecode'), $bounded);
            },
        ),
    ),
);
