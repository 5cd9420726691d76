<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use FFI;
use Throwable;
use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Stream;

/**
 * @internal libdeflate through FFI. It encodes whole strings, in less time than zlib; it has no streams, and zlib decodes.
 */
final class LibDeflate implements Binding
{
    private const SONAME = 'libdeflate.so.0';
    private const HEADER = '
        void *libdeflate_alloc_compressor(int level);
        void libdeflate_free_compressor(void *compressor);
        size_t libdeflate_gzip_compress_bound(void *compressor, size_t size);
        size_t libdeflate_gzip_compress(void *compressor, const char *from, size_t size, char *to, size_t room);
        size_t libdeflate_zlib_compress_bound(void *compressor, size_t size);
        size_t libdeflate_zlib_compress(void *compressor, const char *from, size_t size, char *to, size_t room);
    ';
    private const CONTAINERS = ['gzip' => 'gzip', 'deflate' => 'zlib'];

    /** @var FFI|false|null false: it cannot be opened; kept to the end: PHP remembers where fields of its types are */
    private static $ffi = null;

    public function can(string $coding, int $what): bool
    {
        return self::ffi() !== false && isset(self::CONTAINERS[$coding]) && $what === self::ENCODE;
    }

    public function encode(string $data, string $coding, int $level, ?string $dictionary): string
    {
        $ffi = self::ffi();
        $name = 'libdeflate_' . self::CONTAINERS[$coding] . '_compress';
        $compressor = $ffi->libdeflate_alloc_compressor($level);
        try {
            $room = (int) $ffi->{"{$name}_bound"}($compressor, strlen($data));
            $buffer = $ffi->new("char[$room]");
            $length = (int) $ffi->$name($compressor, $data, strlen($data), $buffer, $room);
            return FFI::string($buffer, $length);
        } finally {
            $ffi->libdeflate_free_compressor($compressor);
        }
    }

    public function decode(string $data, string $coding, int $maxBytes, ?string $dictionary): string
    {
        throw new CodecFailure("$coding: libdeflate is used to encode alone");
    }

    public function stream(string $coding, int $level): Stream
    {
        throw new CodecFailure("$coding: libdeflate has no streams");
    }

    /** @return FFI|false */
    private static function ffi()
    {
        try {
            return self::$ffi ?? self::$ffi = FFI::cdef(self::HEADER, self::SONAME);
        } catch (Throwable $error) {
            return self::$ffi = false;
        }
    }
}
