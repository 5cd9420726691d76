<?php
/** The msgpack extension, with the settings that this PHP has for it. */

use Weighbridge\Extension;

return array(
    'missing' => function () {
        return Extension::missing('msgpack', 'msgpack_pack');
    },
    'library' => function () {
        return 'msgpack ' . phpversion('msgpack');
    },
    'pack' => 'msgpack_pack',
    'unpack' => 'msgpack_unpack',
);
