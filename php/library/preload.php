<?php

/**
 * Preloads what reaches libraries through FFI, which a server's PHP allows to preloaded code only. In php.ini:
 *
 *     opcache.preload=/path/to/vendor/weighbridge/weighbridge/preload.php
 *     opcache.preload_user=NAME      only where PHP-FPM is started as root: the user that the pool runs as
 *     ffi.enable=preload
 */

declare(strict_types=1);

require_once __DIR__ . '/autoload.php';

foreach ([__DIR__ . '/src/*.php', __DIR__ . '/src/Binding/*.php', __DIR__ . '/src/Settings/*.php'] as $pattern) {
    foreach (glob($pattern) ?: [] as $file) {
        opcache_compile_file($file);
    }
}
