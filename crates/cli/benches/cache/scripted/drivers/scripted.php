<?php
/** A store inside the process whose answers take a time that is known. */

use Weighbridge\Scripted\Store;

return array(
    'about' => 'takes as long as it is told, and writes down how long it took',
    'library' => function () {
        return 'scripted';
    },
    'missing' => function () {
        return null;
    },
    'schemes' => array(),
    'native' => array('integer', 'text'),
    'shared' => false,
    'open' => function () {
        return new Store(explode(',', get_cfg_var('weigh.script')), get_cfg_var('weigh.truth'));
    },
);
