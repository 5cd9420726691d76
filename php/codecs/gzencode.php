<?php
/** DEFLATE in the gzip container through PHP's zlib extension (memLevel 9, window 15). */

use Weighbridge\Extension;

return array(
    'format' => 'gzip',
    'sets' => array('web'),
    // PHP takes -1 for zlib's own default, which is 6.
    'levels' => array('min' => -1, 'max' => 9, 'default' => 6, 'representative' => array(1, 4, 6, 9)),
    'nominal' => array(array(0, 800.0), array(1, 85.0), array(4, 45.0), array(6, 18.0), array(9, 9.0)),
    'bindings' => array('extension' => Extension::zlibBinding('gzencode', 'gzdecode')),
);
