<?php
/** The output handler of the zstd extension. */

use Weighbridge\Delivery;
use Weighbridge\Extension;

return array(
    'about' => 'ob_start("ob_zstd_handler"), level by zstd.output_compression_level; it negotiates by itself',
    'send' => function (Delivery $delivery) {
        if ($delivery->inPieces()) {
            Delivery::endBuffers();
        }
        ini_set('zstd.output_compression_level', (string) $delivery->params->level);
        ob_start('ob_zstd_handler');
        $delivery->sendPieces();
        ob_end_flush();
    },
) + Extension::zstdOutput();
