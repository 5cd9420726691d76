<?php

/**
 * Preloads the classes that reach libraries through FFI, which a server's PHP allows to preloaded code only. In php.ini:
 *
 *     opcache.preload=/path/to/vendor/weighbridge/weighbridge/preload.php
 *     opcache.preload_user=NAME      only where PHP-FPM is started as root: the user that the pool runs as
 *     ffi.enable=preload
 *
 * Nothing else is preloaded. These classes declare a fixed list of functions of three codecs' libraries, take no
 * declaration, library or callable from their callers, and give out strings alone.
 */

declare(strict_types=1);

require_once __DIR__ . '/autoload.php';

foreach (['Libraries', 'Pointer'] as $name) {
    class_exists("Weighbridge\\Library\\Binding\\$name");
}
