<?php
/** readfile(). */

use Weighbridge\Delivery;

return array(
    'kind' => 'plain',
    'subjects' => array('download'),
    'about' => 'PHP sends the file by readfile(), unbuffered, with its length',
    'send' => function (Delivery $delivery) {
        $delivery->beginStream();
        readfile($delivery->content->path);
    },
);
