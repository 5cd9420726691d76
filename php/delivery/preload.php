<?php
/**
 * Preloads what reaches libraries through FFI, which a server's PHP allows to preloaded code only.
 *
 * A PHP-FPM of version 7.4 or newer needs, in its php.ini (they are read at its start, a pool cannot set them):
 *
 *     opcache.enable=1
 *     opcache.preload=HOME/delivery/preload.php    HOME is the folder that WEIGH_PHP_HOME names
 *     opcache.preload_user=NAME                    only when it is started as root: the user that the pool runs as,
 *                                                  who must be able to read HOME
 *     ffi.enable=preload
 *
 * Without opcache there is no preloading, and ffi.enable=1 does the same for all code. Either way each request opens the
 * library that it uses and reads its declarations, which took 0.08 to 0.12 ms: FFI::load(), which would keep them, refuses
 * to work together with opcache.preload_user.
 */

$home = dirname(__DIR__);
// Classes first, so that none is looked for while the files that use them are compiled.
foreach (array('lib', 'codecs', 'ways') as $folder) {
    foreach (glob("$home/$folder/*.php") as $file) {
        opcache_compile_file($file);
    }
}
// The library preloads its own; it is for PHP 7.4 and newer, as FFI is.
if (PHP_VERSION_ID >= 70400 && is_file("$home/library/preload.php")) {
    require "$home/library/preload.php";
}
