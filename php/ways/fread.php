<?php
/** fread() and echo in a loop, as people write it to keep memory low. */

use Weighbridge\Delivery;

return array(
    'kind' => 'plain',
    'subjects' => array('download'),
    'options' => array(
        'chunk' => array('range' => array(512, 16777216), 'about' => 'bytes that are read and echoed at a time; 8192 without it'),
    ),
    'about' => 'PHP sends the file by fread(), echo and flush() in a loop, unbuffered, with its length',
    'send' => function (Delivery $delivery) {
        $chunk = (int) $delivery->params->option('chunk', '8192');
        $file = fopen($delivery->content->path, 'rb');
        $delivery->beginStream();
        while (!feof($file)) {
            echo fread($file, $chunk);
            flush();
        }
        fclose($file);
    },
);
