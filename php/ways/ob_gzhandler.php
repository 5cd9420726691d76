<?php
/** PHP's own output handler of the zlib extension. */

use Weighbridge\Delivery;
use Weighbridge\Extension;

return array(
    'kind' => 'on-the-fly',
    'codings' => array('gzip', 'deflate'),
    'subjects' => array('page'),
    'levels' => array('min' => 1, 'max' => 9, 'default' => 6, 'representative' => array(1, 6, 9)),
    'options' => array(
        'pieces' => array('range' => array(1, 1000), 'about' => 'pieces, each flushed through the handler; 1 without it'),
    ),
    'about' => 'ob_start("ob_gzhandler"), level by zlib.output_compression_level; it looks for the words gzip and deflate '
        . 'in Accept-Encoding and knows no q-values',
    'nominal' => array(array(1, 85.0), array(6, 18.0), array(9, 9.0)),
    'missing' => function () {
        return Extension::missing('zlib', 'ob_gzhandler');
    },
    'library' => function () {
        return Extension::library('zlib', 'zlib', array('Linked Version')) . ' (extension)';
    },
    'send' => function (Delivery $delivery) {
        if ($delivery->inPieces()) {
            Delivery::endBuffers();
        }
        ini_set('zlib.output_compression_level', (string) $delivery->params->level);
        ob_start('ob_gzhandler');
        $delivery->sendPieces();
        ob_end_flush();
    },
);
