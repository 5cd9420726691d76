<?php
/** The setting of the zlib extension that encodes all output. */

use Weighbridge\Delivery;
use Weighbridge\Extension;

return array(
    'about' => 'zlib.output_compression=On, set by the script (chunks of 4 KB); it looks for the words gzip and deflate '
        . 'in Accept-Encoding and knows no q-values',
    'send' => function (Delivery $delivery) {
        // It does not begin while another buffer is there.
        Delivery::endBuffers();
        ini_set('zlib.output_compression_level', (string) $delivery->params->level);
        ini_set('zlib.output_compression', '1');
        $delivery->sendPieces();
    },
) + Extension::zlibOutput();
