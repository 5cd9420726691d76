<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use FFI;
use Throwable;

/**
 * A system library reached through FFI, opened once per request.
 *
 * A server's PHP allows FFI to preloaded code only (`ffi.enable=preload`): preload.php of this library does that.
 */
final class Library
{
    /** @var array<string, FFI|null> */
    private static array $open = [];

    /** The library with these declarations; null where FFI is not allowed or the library is absent. */
    public static function open(string $soname, string $header): ?FFI
    {
        if (!array_key_exists($soname, self::$open)) {
            self::$open[$soname] = self::load($soname, $header);
        }
        return self::$open[$soname];
    }

    private static function load(string $soname, string $header): ?FFI
    {
        $enabled = strtolower((string) ini_get('ffi.enable'));
        if (!class_exists(FFI::class, false) || !in_array($enabled, ['1', 'on', 'true', 'yes', 'preload'], true)) {
            return null;
        }
        try {
            return FFI::cdef($header, $soname);
        } catch (Throwable $error) {
            return null;
        }
    }
}
