<?php
/** The output handler of the extension weighbridge, which replaces ob_gzhandler by name. */

use Weighbridge\Delivery;
use Weighbridge\Extension;

return array(
    'kind' => 'on-the-fly',
    'codings' => array('gzip', 'br', 'zstd'),
    'subjects' => array('page'),
    'levels' => array('min' => 1, 'max' => 11, 'default' => 6, 'representative' => array(1, 3, 6, 9)),
    'options' => array(
        'coding' => array('words' => array('gzip', 'br', 'zstd'), 'about' => 'the content coding; gzip without it'),
        'pieces' => array('range' => array(1, 1000), 'about' => 'pieces, each flushed through the handler; 1 without it'),
    ),
    'nominal' => array(array(1, 200.0), array(6, 60.0), array(9, 20.0)),
    'about' => 'ob_start("weighbridge_output_handler"): whole pages in one call, flushed ones as a stream',
    'missing' => function () {
        return Extension::missing('weighbridge', 'weighbridge_encode');
    },
    'library' => function () {
        return Extension::weighbridge();
    },
    'send' => function (Delivery $delivery) {
        Delivery::endBuffers();
        $coding = $delivery->params->option('coding', 'gzip');
        ini_set('weighbridge.codings', $coding);
        ini_set('weighbridge.level', "$coding={$delivery->params->level}");
        ini_set('weighbridge.min_bytes', '0');
        ob_start('weighbridge_output_handler');
        $delivery->sendPieces();
        ob_end_flush();
    },
);
