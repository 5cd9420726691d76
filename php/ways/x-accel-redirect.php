<?php
/** X-Accel-Redirect: the script authorises, and the server (nginx, Caddy) sends the file. */

use Weighbridge\Delivery;

return array(
    'kind' => 'offload',
    'subjects' => array('download'),
    'free' => array('token'),
    'about' => 'PHP compares the token and answers with X-Accel-Redirect: /offload/NAME, which the server then sends',
    'send' => function (Delivery $delivery) {
        $delivery->authorise();
        $delivery->asDownload();
        header('X-Accel-Redirect: /offload/' . rawurlencode($delivery->content->name));
    },
);
