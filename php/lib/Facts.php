<?php
namespace Weighbridge;

/** What of this PHP changes results, as queried: texts by name. */
final class Facts
{
    /** @return array name => text */
    public static function all()
    {
        $facts = array(
            'PHP_VERSION' => PHP_VERSION,
            'PHP_BINARY' => PHP_BINARY,
            'sapi' => PHP_SAPI,
            'debug' => PHP_DEBUG ? 'yes' : 'no',
            'zts' => PHP_ZTS ? 'yes' : 'no',
            'int_bits' => (string) (PHP_INT_SIZE * 8),
            'clock' => Clock::name(),
            'USE_ZEND_ALLOC' => self::environment('USE_ZEND_ALLOC'),
            'USE_ZEND_ALLOC_HUGE_PAGES' => self::environment('USE_ZEND_ALLOC_HUGE_PAGES'),
            'opcache.enable_cli' => self::setting('opcache.enable_cli'),
            'opcache.jit' => self::setting('opcache.jit'),
            'opcache.jit_buffer_size' => self::setting('opcache.jit_buffer_size'),
            'pcre.jit' => self::setting('pcre.jit'),
            'serialize_precision' => self::setting('serialize_precision'),
            'ini' => php_ini_loaded_file() ?: 'none',
            'xdebug' => self::xdebug(),
            'zlib' => extension_loaded('zlib') ? (string) Extension::version('zlib', array('Linked Version')) : 'not loaded',
        );
        $interesting = array('FFI', 'brotli', 'bz2', 'igbinary', 'lz4', 'msgpack', 'snappy', 'zstd');
        $loaded = array_filter($interesting, 'extension_loaded');
        foreach ($loaded as $extension) {
            $facts["extension.$extension"] = (string) phpversion($extension);
        }
        return $facts;
    }

    private static function environment($name)
    {
        $value = getenv($name);
        return $value === false ? 'unset' : $value;
    }

    private static function setting($name)
    {
        $value = ini_get($name);
        return $value === false ? 'not there' : ($value === '' ? 'empty' : $value);
    }

    private static function xdebug()
    {
        if (!extension_loaded('xdebug')) {
            return 'not loaded';
        }
        // Xdebug 3 has modes; Xdebug 2 is in the way of every call as soon as it is loaded.
        $mode = ini_get('xdebug.mode');
        return phpversion('xdebug') . ($mode === false ? '' : " mode=$mode");
    }
}
