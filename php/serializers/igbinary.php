<?php
/** The igbinary extension, with the settings that this PHP has for it. */

use Weighbridge\Extension;

return array(
    'missing' => function () {
        return Extension::missing('igbinary', 'igbinary_serialize');
    },
    'library' => function () {
        return 'igbinary ' . phpversion('igbinary');
    },
    'pack' => 'igbinary_serialize',
    'unpack' => 'igbinary_unserialize',
);
