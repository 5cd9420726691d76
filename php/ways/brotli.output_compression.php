<?php
/** The setting of the brotli extension that encodes all output. */

use Weighbridge\Delivery;
use Weighbridge\Extension;
use Weighbridge\Fault;

return array(
    'kind' => 'on-the-fly',
    'codings' => array('br'),
    'subjects' => array('page'),
    'levels' => array('min' => 0, 'max' => 11, 'default' => 11, 'representative' => array(1, 4, 6, 9, 11)),
    'options' => array(
        'pieces' => array('range' => array(1, 1000), 'about' => 'pieces, each flushed through the handler; 1 without it'),
    ),
    'about' => 'brotli.output_compression=On, set by the script; it negotiates by itself',
    'nominal' => array(array(0, 250.0), array(1, 160.0), array(4, 40.0), array(6, 20.0), array(9, 7.5), array(11, 0.5)),
    'missing' => function () {
        if (extension_loaded('brotli') && ini_get('brotli.output_compression') === false) {
            $version = phpversion('brotli');
            return new Fault('missing', "the brotli extension $version has no brotli.output_compression", 'pecl install brotli');
        }
        return Extension::missing('brotli', 'brotli_compress');
    },
    'library' => function () {
        return Extension::library('brotli', 'brotli', array('Brotli library version')) . ' (extension)';
    },
    'send' => function (Delivery $delivery) {
        // It does not begin while another buffer is there.
        Delivery::endBuffers();
        ini_set('brotli.output_compression_level', (string) $delivery->params->level);
        ini_set('brotli.output_compression', '1');
        $delivery->sendPieces();
    },
);
