<?php
/** gzencode() in the callback of an output buffer; pieces through deflate_add(). */

use Weighbridge\Params;

return array(
    'kind' => 'on-the-fly',
    'codings' => array('gzip'),
    'subjects' => array('page'),
    'codec' => 'gzencode',
    'levels' => array('min' => 1, 'max' => 9, 'default' => 6, 'representative' => array(1, 4, 6, 9)),
    'options' => array(
        'pieces' => array(
            'range' => array(1, 1000),
            'about' => 'pieces, each flushed, through deflate_add(); before PHP 7 they go out as one; 1 without it',
        ),
    ),
    'about' => 'ob_start() with a callback that calls gzencode(), with Content-Length',
    'streams' => array(
        'extension' => function (Params $params) {
            if (!function_exists('deflate_init')) {
                return null;
            }
            // gzencode() works with the greatest memory level, deflate_init() with 8 unless it is told.
            $context = deflate_init(ZLIB_ENCODING_GZIP, array('level' => $params->level, 'memory' => 9));
            return function ($bytes, $last) use ($context) {
                return deflate_add($context, $bytes, $last ? ZLIB_FINISH : ZLIB_SYNC_FLUSH);
            };
        },
    ),
);
