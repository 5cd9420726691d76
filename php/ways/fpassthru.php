<?php
/** fpassthru() of an opened file. */

use Weighbridge\Delivery;

return array(
    'kind' => 'plain',
    'subjects' => array('download'),
    'about' => 'PHP sends the file by fpassthru(), unbuffered, with its length',
    'send' => function (Delivery $delivery) {
        $file = fopen($delivery->content->path, 'rb');
        $delivery->beginStream();
        fpassthru($file);
        fclose($file);
    },
);
