<?php
/** The setting of the zstd extension that encodes all output. */

use Weighbridge\Delivery;
use Weighbridge\Extension;
use Weighbridge\Fault;

return array(
    'kind' => 'on-the-fly',
    'codings' => array('zstd'),
    'subjects' => array('page'),
    'levels' => array('min' => 1, 'max' => 22, 'default' => 3, 'representative' => array(1, 3, 6, 9, 15, 19)),
    'options' => array(
        'pieces' => array('range' => array(1, 1000), 'about' => 'pieces, each flushed through the handler; 1 without it'),
    ),
    'about' => 'zstd.output_compression=On, set by the script; it negotiates by itself',
    'nominal' => array(array(1, 280.0), array(3, 160.0), array(9, 32.0), array(15, 5.0), array(19, 1.3)),
    'missing' => function () {
        if (extension_loaded('zstd') && ini_get('zstd.output_compression') === false) {
            $version = phpversion('zstd');
            return new Fault('missing', "the zstd extension $version has no zstd.output_compression", 'pecl install zstd');
        }
        return Extension::missing('zstd', 'zstd_compress');
    },
    'library' => function () {
        return Extension::library('zstd', 'zstd', array('Interface Version', 'Libzstd version')) . ' (extension)';
    },
    'send' => function (Delivery $delivery) {
        // It does not begin while another buffer is there.
        Delivery::endBuffers();
        ini_set('zstd.output_compression_level', (string) $delivery->params->level);
        ini_set('zstd.output_compression', '1');
        $delivery->sendPieces();
    },
);
