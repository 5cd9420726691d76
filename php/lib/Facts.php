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
            'peak memory' => Memory::settles() ? 'measured' : 'not measured: what was freed before cannot be given back without FFI',
            'zlib' => extension_loaded('zlib') ? (string) Extension::version('zlib', array('Linked Version')) : 'not loaded',
        );
        $interesting = array('FFI', 'brotli', 'bz2', 'igbinary', 'lz4', 'msgpack', 'snappy', 'zstd');
        $loaded = array_filter($interesting, 'extension_loaded');
        foreach ($loaded as $extension) {
            $facts["extension.$extension"] = (string) phpversion($extension);
        }
        return $facts;
    }

    /** @return array what changes results under a server, name => text; with the facts that hold everywhere */
    public static function ofDelivery()
    {
        $facts = self::all();
        unset($facts['opcache.enable_cli']);
        $names = array(
            'memory_limit', 'output_buffering', 'implicit_flush', 'zlib.output_compression', 'max_execution_time',
            'opcache.enable', 'opcache.validate_timestamps', 'opcache.preload', 'ffi.enable', 'realpath_cache_size',
        );
        foreach ($names as $name) {
            $facts[$name] = self::setting($name);
        }
        $facts += self::inForce();
        ksort($facts);
        return $facts;
    }

    /** @return array what changes the results of a client worker, name => text; with the facts that hold everywhere */
    public static function ofClient()
    {
        $facts = self::all() + self::inForce();
        foreach (array_filter(array('apcu', 'memcached', 'redis'), 'extension_loaded') as $extension) {
            $facts["extension.$extension"] = (string) phpversion($extension);
        }
        foreach (array('apc.shm_size', 'apc.serializer', 'memcached.serializer', 'memcached.compression_type') as $name) {
            $facts[$name] = self::setting($name);
        }
        ksort($facts);
        return $facts;
    }

    /** @return array of opcache and its JIT: a setting says what was asked for, only the status says what runs */
    private static function inForce()
    {
        $status = function_exists('opcache_get_status') ? opcache_get_status(false) : false;
        return array(
            'opcache' => $status ? 'on' : 'off',
            'jit' => isset($status['jit']['on']) && $status['jit']['on'] ? 'on' : 'off',
        );
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
