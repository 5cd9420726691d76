<?php
/** PHP's own output handler of the zlib extension. */

use Weighbridge\Delivery;
use Weighbridge\Extension;

return array(
    'about' => 'ob_start("ob_gzhandler"), level by zlib.output_compression_level; it looks for the words gzip and deflate '
        . 'in Accept-Encoding and knows no q-values',
    'send' => function (Delivery $delivery) {
        if ($delivery->inPieces()) {
            Delivery::endBuffers();
        }
        ini_set('zlib.output_compression_level', (string) $delivery->params->level);
        ob_start('ob_gzhandler');
        $delivery->sendPieces();
        ob_end_flush();
    },
) + Extension::zlibOutput();
