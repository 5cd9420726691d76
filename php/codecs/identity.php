<?php
/** A copy of the bytes: the ceiling, and what the loop round every other codec costs. */

use Weighbridge\Coder;

return array(
    'format' => 'identity',
    'sets' => array('web', 'cache', 'fast', 'archive'),
    'nominal' => array(array(0, 3000.0)),
    'bindings' => array(
        'library' => array(
            'missing' => function () {
                return null;
            },
            'library' => function () {
                return 'PHP ' . PHP_VERSION;
            },
            // Assigning a string copies nothing in PHP. str_repeat() with 1 allocates and copies once, as every
            // codec has to at least.
            'coder' => function () {
                return new Coder(array('str_repeat', 1), array('str_repeat', 1));
            },
        ),
    ),
);
