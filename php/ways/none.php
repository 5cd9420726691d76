<?php
/** The page as it is: what every other way is compared with. */

use Weighbridge\Delivery;

return array(
    'kind' => 'plain',
    'subjects' => array('page'),
    'options' => array(
        'pieces' => array('range' => array(1, 1000), 'about' => 'pieces that the page is echoed and flushed in; 1 without it'),
    ),
    'about' => 'PHP echoes the page with its Content-Length',
    'send' => function (Delivery $delivery) {
        if ($delivery->inPieces()) {
            Delivery::endBuffers();
        }
        $delivery->sendPlain();
    },
);
