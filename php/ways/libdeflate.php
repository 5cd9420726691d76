<?php
/** gzip by libdeflate, through FFI. */

return array(
    'kind' => 'on-the-fly',
    'codings' => array('gzip'),
    'subjects' => array('page'),
    'codec' => 'libdeflate',
    'with' => array('container' => 'gzip'),
    'levels' => array('min' => 1, 'max' => 12, 'default' => 6, 'representative' => array(1, 6, 9, 12)),
    'options' => array(
        'pieces' => array(
            'range' => array(1, 1000),
            'about' => 'pieces that the page is echoed in; libdeflate has no streams, so that they go out as one; 1 without it',
        ),
    ),
    'about' => 'ob_start() with a callback that calls libdeflate_gzip_compress() through FFI, with Content-Length',
);
