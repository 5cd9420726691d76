<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use FFI;
use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Stream;

/** libdeflate through FFI. It encodes whole strings and has no streams. */
final class LibDeflate implements Binding
{
    private const SONAME = 'libdeflate.so.0';
    private const CONTAINERS = ['gzip' => 'gzip', 'deflate' => 'zlib', 'raw-deflate' => 'deflate'];
    /** What a decoder answers when the content does not fit. */
    private const NO_ROOM = 3;

    public function name(): string
    {
        return 'libdeflate through FFI';
    }

    public function encodesAs(string $encoder): bool
    {
        return $encoder === 'libdeflate';
    }

    public function can(string $coding, int $what): bool
    {
        return isset(self::CONTAINERS[$coding])
            && ($what & (self::DICTIONARY | self::STREAM)) === 0
            && self::open() !== null;
    }

    public function encode(string $data, string $coding, int $level, ?string $dictionary): string
    {
        $ffi = self::opened();
        $name = 'libdeflate_' . self::CONTAINERS[$coding] . '_compress';
        $owned = new Pointer($ffi, $ffi->libdeflate_alloc_compressor($level), 'libdeflate_free_compressor');
        $compressor = $owned->address;
        try {
            $room = (int) $ffi->{"{$name}_bound"}($compressor, strlen($data));
            $buffer = $ffi->new("char[$room]");
            $length = (int) $ffi->$name($compressor, $data, strlen($data), $buffer, $room);
            if ($length === 0) {
                throw new CodecFailure("$coding: $name() failed");
            }
            return FFI::string($buffer, $length);
        } finally {
            $owned->release();
        }
    }

    public function decode(string $data, string $coding, int $maxBytes, ?string $dictionary): string
    {
        $ffi = self::opened();
        $name = 'libdeflate_' . self::CONTAINERS[$coding] . '_decompress';
        $owned = new Pointer($ffi, $ffi->libdeflate_alloc_decompressor(), 'libdeflate_free_decompressor');
        $decompressor = $owned->address;
        try {
            $length = $ffi->new('size_t');
            // The size is not known before; most content is four times its encoded size at most.
            for ($room = min($maxBytes, 4 * strlen($data) + 64);; $room = min($maxBytes, 4 * $room)) {
                $buffer = $ffi->new('char[' . max(1, $room) . ']');
                $code = $ffi->$name($decompressor, $data, strlen($data), $buffer, $room, FFI::addr($length));
                if ($code === 0) {
                    return FFI::string($buffer, $length->cdata);
                }
                if ($code !== self::NO_ROOM || $room >= $maxBytes) {
                    throw new CodecFailure("$coding: the content is corrupt, cut short, or larger than $maxBytes bytes");
                }
            }
        } finally {
            $owned->release();
        }
    }

    public function stream(string $coding, int $level): Stream
    {
        throw new CodecFailure("$coding: libdeflate has no streams");
    }

    private static function opened(): FFI
    {
        $ffi = self::open();
        if ($ffi === null) {
            throw new CodecFailure(self::SONAME . ' cannot be opened');
        }
        return $ffi;
    }

    private static function open(): ?FFI
    {
        static $header = null;
        if ($header === null) {
            $header = 'void *libdeflate_alloc_compressor(int level);
                void libdeflate_free_compressor(void *compressor);
                void *libdeflate_alloc_decompressor(void);
                void libdeflate_free_decompressor(void *decompressor);';
            foreach (self::CONTAINERS as $container) {
                $header .= "size_t libdeflate_{$container}_compress_bound(void *compressor, size_t size);
                    size_t libdeflate_{$container}_compress(void *compressor, const char *from, size_t size, char *to,
                        size_t room);
                    int libdeflate_{$container}_decompress(void *decompressor, const char *from, size_t size, char *to,
                        size_t room, size_t *length);";
            }
        }
        return Library::open(self::SONAME, $header);
    }
}
