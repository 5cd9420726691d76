<?php
/** The setting of the zstd extension that encodes all output. */

use Weighbridge\Delivery;
use Weighbridge\Extension;
use Weighbridge\Fault;

return array(
    'about' => 'zstd.output_compression=On, set by the script; it negotiates by itself',
    'missing' => function () {
        if (extension_loaded('zstd') && ini_get('zstd.output_compression') === false) {
            $version = phpversion('zstd');
            return new Fault('missing', "the zstd extension $version has no zstd.output_compression", 'pecl install zstd');
        }
        return Extension::missing('zstd', 'zstd_compress');
    },
    'send' => function (Delivery $delivery) {
        // It does not begin while another buffer is there.
        Delivery::endBuffers();
        ini_set('zstd.output_compression_level', (string) $delivery->params->level);
        ini_set('zstd.output_compression', '1');
        $delivery->sendPieces();
    },
) + Extension::zstdOutput();
