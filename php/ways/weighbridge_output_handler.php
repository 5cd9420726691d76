<?php
/** The output handler of the extension weighbridge, which replaces ob_gzhandler by name. */

use Weighbridge\Delivery;
use Weighbridge\Extension;

return array(
    'about' => 'ob_start("weighbridge_output_handler"): pages of up to 256 KB in one call, larger and flushed ones as a stream',
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
    },
) + Extension::weighbridgeOutput();
