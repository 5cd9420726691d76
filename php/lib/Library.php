<?php
namespace Weighbridge;

/**
 * A system library reached through FFI. Opened once a process.
 *
 * FFI came with PHP 7.4. Its classes are only named at run time here, so that older ones can read the file.
 */
final class Library
{
    private static $open = array();

    /**
     * @param string $soname  `libzstd.so.1`
     * @param string $package the Debian package that has it
     * @param string $header  the C declarations that are used
     * @return Fault|null why it cannot be used
     */
    public static function missing($soname, $package, $header)
    {
        if (PHP_VERSION_ID < 70400) {
            $php = 'PHP ' . PHP_VERSION . ' has no FFI, which came with 7.4';
            return new Fault('missing', $php, 'use PHP 7.4 or newer, or load the extension');
        }
        if (!class_exists('FFI', false)) {
            return new Fault('missing', 'the FFI extension is not loaded in this PHP', Extension::remedy('ffi'));
        }
        if (!in_array(strtolower(ini_get('ffi.enable')), array('1', 'on', 'true', 'yes', 'preload'), true)) {
            return new Fault('missing', 'FFI is disabled in this PHP', 'start it with -d ffi.enable=1');
        }
        try {
            self::open($soname, $header);
        } catch (\Throwable $error) {
            if (strpos($error->getMessage(), 'restricted') !== false) {
                $remedy = 'set opcache.preload to delivery/preload.php, or ffi.enable=1';
                return new Fault('missing', 'in a server FFI is for preloaded code only (ffi.enable=preload)', $remedy);
            }
            return new Fault('missing', "$soname: " . $error->getMessage(), "apt install $package");
        }
        return null;
    }

    /** @return \FFI the library with these declarations */
    public static function open($soname, $header)
    {
        // Two codecs may use one library with declarations of their own.
        if (!isset(self::$open[$soname][$header])) {
            self::$open[$soname][$header] = \FFI::cdef($header, $soname);
        }
        return self::$open[$soname][$header];
    }

    /**
     * The version of a library that has no function to ask for it: as the file's name ends (`.so.1.1.9`),
     * else of the package that owns the file, else the head of the file's digest, which is at least an identity.
     *
     * @return string
     */
    public static function versionOfFile($soname, $package)
    {
        $path = self::mapped($soname);
        if ($path === null) {
            return 'of unknown version';
        }
        if (preg_match('/\.so\.(\d+\.\d+[\d.]*)$/', $path, $match)) {
            return $match[1];
        }
        $version = Package::versionOwning($package, $path);
        return $version !== null ? $version : 'sha256:' . substr(hash_file('sha256', $path), 0, 12);
    }

    /** @return string|null the file that this process has mapped for the name, symbolic links resolved */
    private static function mapped($soname)
    {
        $stem = preg_quote(preg_replace('/\.so\..*/', '.so', $soname), '~');
        $maps = is_readable('/proc/self/maps') ? file_get_contents('/proc/self/maps') : '';
        return preg_match("~\s(/\S*/$stem\.[\d.]+)$~m", $maps, $match) ? $match[1] : null;
    }
}
