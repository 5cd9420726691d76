<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use FFI;
use FFI\CData;
use Throwable;
use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Stream;

/** @internal libzstd through FFI. */
final class LibZstd implements Binding
{
    private const SONAME = 'libzstd.so.1';
    private const HEADER = '
        typedef struct { void *from; size_t size; size_t at; } weigh_in;
        typedef struct { void *to; size_t size; size_t at; } weigh_out;
        size_t ZSTD_compressBound(size_t size);
        unsigned ZSTD_isError(size_t code);
        void *ZSTD_createCCtx(void);
        size_t ZSTD_freeCCtx(void *context);
        size_t ZSTD_compress(char *to, size_t room, const char *from, size_t size, int level);
        void *ZSTD_createCDict(const char *from, size_t size, int level);
        size_t ZSTD_freeCDict(void *dictionary);
        size_t ZSTD_compress_usingCDict(void *context, char *to, size_t room, const char *from, size_t size,
            const void *dictionary);
        size_t ZSTD_CCtx_setParameter(void *context, int parameter, int value);
        size_t ZSTD_compressStream2(void *context, weigh_out *out, weigh_in *in, int operation);
        void *ZSTD_createDCtx(void);
        size_t ZSTD_freeDCtx(void *context);
        size_t ZSTD_decompress_usingDict(void *context, char *to, size_t room, const char *from, size_t size,
            const char *dictionary, size_t length);
        size_t ZSTD_decompressStream(void *context, weigh_out *out, weigh_in *in);
    ';
    private const LEVEL = 100;
    private const ROOM = 1 << 17;

    /** @var FFI|false|null false: it cannot be opened; kept to the end: PHP remembers where fields of its types are */
    private static $ffi = null;

    /** @var array{string, int, Pointer}|null the last dictionary, a level, and what the library made of both */
    private ?array $digested = null;

    /** Whether the script has ended: what is made from here on is not kept. */
    private bool $isEnding = false;

    public function __destruct()
    {
        $this->isEnding = true;
        $this->leave();
    }

    public function can(string $coding, int $what): bool
    {
        return self::ffi() !== false && $coding === 'zstd';
    }

    public function encode(string $data, string $coding, int $level, ?string $dictionary): string
    {
        $ffi = self::ffi();
        $size = strlen($data);
        $room = (int) $ffi->ZSTD_compressBound($size);
        $buffer = $ffi->new("char[$room]");
        if ($dictionary === null) {
            $length = $ffi->ZSTD_compress($buffer, $room, $data, $size, $level);
        } else {
            if ($this->digested === null || [$dictionary, $level] !== [$this->digested[0], $this->digested[1]]) {
                $this->leave();
                $made = $ffi->ZSTD_createCDict($dictionary, strlen($dictionary), $level);
                $this->digested = [$dictionary, $level, new Pointer($ffi, $made, 'ZSTD_freeCDict')];
            }
            $made = $this->digested[2]->address;
            $context = new Pointer($ffi, $ffi->ZSTD_createCCtx(), 'ZSTD_freeCCtx');
            $length = $ffi->ZSTD_compress_usingCDict($context->address, $buffer, $room, $data, $size, $made);
            $context->release();
            if ($this->isEnding) {
                $this->leave();
            }
        }
        if ($ffi->ZSTD_isError($length)) {
            throw new CodecFailure('zstd: the content could not be encoded');
        }
        return FFI::string($buffer, $length);
    }

    public function decode(string $data, string $coding, int $maxBytes, ?string $dictionary): string
    {
        $ffi = self::ffi();
        $size = ZstdFrame::contentSize($data);
        if (($size ?? 0) > $maxBytes) {
            throw new CodecFailure("zstd: $size bytes, more than $maxBytes");
        }
        $context = new Pointer($ffi, $ffi->ZSTD_createDCtx(), 'ZSTD_freeDCtx');
        try {
            if ($size === null) {
                return self::decodeUnsized($ffi, $context, $data, $maxBytes);
            }
            $buffer = $ffi->new('char[' . max(1, $size) . ']');
            [$length, $more, $extra] = [strlen($data), (string) $dictionary, strlen((string) $dictionary)];
            $address = $context->address;
            $code = $ffi->ZSTD_decompress_usingDict($address, $buffer, $size, $data, $length, $more, $extra);
            if ($ffi->ZSTD_isError($code)) {
                throw new CodecFailure('zstd: the content is corrupt or cut short, or of another dictionary');
            }
            return FFI::string($buffer, $code);
        } finally {
            $context->release();
        }
    }

    public function stream(string $coding, int $level): Stream
    {
        $ffi = self::ffi();
        $context = new Pointer($ffi, $ffi->ZSTD_createCCtx(), 'ZSTD_freeCCtx');
        $ffi->ZSTD_CCtx_setParameter($context->address, self::LEVEL, $level);
        $room = $ffi->new('char[' . self::ROOM . ']');
        return new Stream(static function (string $data, int $operation) use ($ffi, $context, $room) {
            [$bytes, $in, $out] = self::pointers($ffi, $data, $room);
            $encoded = '';
            do {
                $out->at = 0;
                // The operations have the library's numbers: continue, flush, end.
                $left = $ffi->ZSTD_compressStream2($context->address, FFI::addr($out), FFI::addr($in), $operation);
                if ($ffi->ZSTD_isError($left)) {
                    return false;
                }
                $encoded .= FFI::string($room, $out->at);
            } while ($operation === Stream::ADD ? $in->at < $in->size : $left > 0);
            if ($operation === Stream::FINISH) {
                $context->release();
            }
            return $encoded;
        });
    }

    /** Decodes a frame that does not state its size, piece by piece. */
    private static function decodeUnsized(FFI $ffi, Pointer $context, string $data, int $maxBytes): string
    {
        $room = $ffi->new('char[' . self::ROOM . ']');
        [$bytes, $in, $out] = self::pointers($ffi, $data, $room);
        $decoded = '';
        do {
            $out->at = 0;
            $left = $ffi->ZSTD_decompressStream($context->address, FFI::addr($out), FFI::addr($in));
            if ($ffi->ZSTD_isError($left)) {
                break;
            }
            $decoded .= FFI::string($room, $out->at);
            // What it gives out may be less than fits, with more to come.
        } while (strlen($decoded) <= $maxBytes && ($in->at < $in->size || $left > 0 && $out->at > 0));
        if ($left !== 0) {
            throw new CodecFailure("zstd: the content is corrupt, cut short, or larger than $maxBytes bytes");
        }
        return $decoded;
    }

    /**
     * Content for a streaming function and room for what it gives: the bytes, to be kept, and the library's pointers.
     *
     * @return list<CData>
     */
    private static function pointers(FFI $ffi, string $data, CData $room): array
    {
        $bytes = $ffi->new('char[' . max(1, strlen($data)) . ']');
        FFI::memcpy($bytes, $data, strlen($data));
        [$in, $out] = [$ffi->new('weigh_in'), $ffi->new('weigh_out')];
        [$in->from, $in->size] = [$ffi->cast('void *', FFI::addr($bytes)), strlen($data)];
        [$out->to, $out->size] = [$ffi->cast('void *', FFI::addr($room)), self::ROOM];
        return [$bytes, $in, $out];
    }

    /** Frees what was made of a dictionary. */
    private function leave(): void
    {
        if ($this->digested !== null) {
            $this->digested[2]->release();
            $this->digested = null;
        }
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
