<?php
/** X-Sendfile: the script authorises, and the server (Apache, lighttpd) sends the file. */

use Weighbridge\Delivery;

return array(
    'kind' => 'offload',
    'subjects' => array('download'),
    'free' => array('token'),
    'about' => 'PHP compares the token and answers with X-Sendfile and the path of the file, which the server then sends',
    'send' => function (Delivery $delivery) {
        $delivery->authorise();
        $delivery->asDownload();
        header('X-Sendfile: ' . realpath($delivery->content->path));
    },
);
