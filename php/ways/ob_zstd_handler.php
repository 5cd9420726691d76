<?php
/** The output handler of the zstd extension. */

use Weighbridge\Delivery;
use Weighbridge\Extension;

return array(
    'kind' => 'on-the-fly',
    'codings' => array('zstd'),
    'subjects' => array('page'),
    'levels' => array('min' => 1, 'max' => 22, 'default' => 3, 'representative' => array(1, 3, 6, 9, 15, 19)),
    'options' => array(
        'pieces' => array('range' => array(1, 1000), 'about' => 'pieces, each flushed through the handler; 1 without it'),
    ),
    'about' => 'ob_start("ob_zstd_handler"), level by zstd.output_compression_level; it negotiates by itself',
    'nominal' => array(array(1, 280.0), array(3, 160.0), array(9, 32.0), array(15, 5.0), array(19, 1.3)),
    'missing' => function () {
        return Extension::missing('zstd', 'ob_zstd_handler');
    },
    'library' => function () {
        return Extension::library('zstd', 'zstd', array('Interface Version', 'Libzstd version')) . ' (extension)';
    },
    'send' => function (Delivery $delivery) {
        if ($delivery->inPieces()) {
            Delivery::endBuffers();
        }
        ini_set('zstd.output_compression_level', (string) $delivery->params->level);
        ob_start('ob_zstd_handler');
        $delivery->sendPieces();
        ob_end_flush();
    },
);
