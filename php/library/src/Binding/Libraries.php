<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use Closure;
use FFI;
use FFI\CData;
use Throwable;
use Weighbridge\Library\Stream;

/**
 * @internal The libraries of codecs through FFI. libdeflate encodes whole strings alone, in less time than zlib.
 * Declarations are fixed: a preloaded class may call any function (README.md).
 */
final class Libraries implements Binding
{
    /** By coding: the library's name and file, what it is used for, and its declarations. */
    private const LIBRARIES = [
        'gzip' => ['libdeflate', 'libdeflate.so.0', self::ENCODE, self::DEFLATE],
        'deflate' => ['libdeflate', 'libdeflate.so.0', self::ENCODE, self::DEFLATE],
        'br' => ['libbrotli', 'libbrotlienc.so.1', self::ENCODE | self::DECODE | self::STREAM, '
            void *BrotliEncoderCreateInstance(void *allocate, void *release, void *opaque);
            void BrotliEncoderDestroyInstance(void *state);
            int BrotliEncoderSetParameter(void *state, int parameter, uint32_t value);
            int BrotliEncoderCompressStream(void *state, int operation, size_t *left, const char **next, size_t *size,
                char **to, size_t *total);
            void *BrotliEncoderTakeOutput(void *state, size_t *size);
            int BrotliEncoderHasMoreOutput(void *state);'],
        'unbr' => ['libbrotli', 'libbrotlidec.so.1', self::DECODE, '
            void *BrotliDecoderCreateInstance(void *allocate, void *release, void *opaque);
            void BrotliDecoderDestroyInstance(void *state);
            int BrotliDecoderDecompressStream(void *state, size_t *left, const char **next, size_t *size, char **to,
                size_t *total);
            void *BrotliDecoderTakeOutput(void *state, size_t *size);'],
        'zstd' => ['libzstd', 'libzstd.so.1', self::ENCODE | self::DECODE | self::STREAM | self::DICTIONARY, '
            typedef struct { void *bytes; size_t size; size_t at; } weigh_buffer;
            unsigned ZSTD_isError(size_t code);
            void *ZSTD_createCCtx(void);
            size_t ZSTD_freeCCtx(void *context);
            size_t ZSTD_CCtx_setParameter(void *context, int parameter, int value);
            size_t ZSTD_CCtx_loadDictionary(void *context, const char *dictionary, size_t size);
            size_t ZSTD_compressBound(size_t size);
            size_t ZSTD_compress2(void *context, char *to, size_t room, const char *from, size_t size);
            size_t ZSTD_compressStream2(void *context, weigh_buffer *out, weigh_buffer *in, int operation);
            void *ZSTD_createDCtx(void);
            size_t ZSTD_freeDCtx(void *context);
            long long ZSTD_getFrameContentSize(const char *from, size_t size);
            size_t ZSTD_decompress_usingDict(void *context, char *to, size_t room, const char *from, size_t size,
                const char *dictionary, size_t length);
            size_t ZSTD_decompressStream(void *context, weigh_buffer *out, weigh_buffer *in);'],
    ];
    private const DEFLATE = '
        void *libdeflate_alloc_compressor(int level);
        void libdeflate_free_compressor(void *compressor);
        size_t libdeflate_gzip_compress_bound(void *compressor, size_t size);
        size_t libdeflate_gzip_compress(void *compressor, const char *from, size_t size, char *to, size_t room);
        size_t libdeflate_zlib_compress_bound(void *compressor, size_t size);
        size_t libdeflate_zlib_compress(void *compressor, const char *from, size_t size, char *to, size_t room);';
    private const BROTLI_QUALITY = 1;
    private const ZSTD_LEVEL = 100;
    private const ROOM = 1 << 17;

    /** @var array<string, FFI|false> false: it cannot be opened; kept to the end: PHP remembers where fields of its types are */
    private static array $opened = [];

    /** @var array{string, int, Pointer}|null the last dictionary, a level, and the context that has digested both */
    private ?array $digested = null;

    public function __destruct()
    {
        $this->leave();
    }

    public function name(string $coding, int $what): ?string
    {
        [$name, , $does] = self::LIBRARIES[$coding] ?? ['', '', 0];
        $isThere = ($what & ~$does) === 0 && self::library($coding) !== null
            && ($coding !== 'br' || self::library('unbr') !== null);
        return $isThere ? "$name through FFI" : null;
    }

    public function encode(string $data, string $coding, int $level, ?string $dictionary)
    {
        if ($coding === 'br') {
            return self::brotli($level)($data, Stream::FINISH);
        }
        if ($coding === 'zstd') {
            return $this->zstd($data, $level, (string) $dictionary);
        }
        $ffi = self::library($coding);
        $name = $coding === 'gzip' ? 'libdeflate_gzip_compress' : 'libdeflate_zlib_compress';
        $compressor = new Pointer($ffi, $ffi->libdeflate_alloc_compressor($level), 'libdeflate_free_compressor');
        $room = $ffi->{"{$name}_bound"}($compressor->address, strlen($data));
        $to = $ffi->new("char[$room]");
        $length = $ffi->$name($compressor->address, $data, strlen($data), $to, $room);
        $compressor->release();
        return FFI::string($to, $length);
    }

    public function decode(string $data, string $coding, int $maxBytes, ?string $dictionary)
    {
        return $coding === 'br' ? self::unbrotli($data, $maxBytes) : self::unzstd($data, $maxBytes, (string) $dictionary);
    }

    public function stream(string $coding, int $level): Stream
    {
        return new Stream($coding === 'br' ? self::brotli($level) : self::zstdStream($level));
    }

    /** @return Closure(string, int): (string|false) */
    private static function brotli(int $level): Closure
    {
        $ffi = self::library('br');
        $owned = new Pointer($ffi, $ffi->BrotliEncoderCreateInstance(null, null, null), 'BrotliEncoderDestroyInstance');
        $ffi->BrotliEncoderSetParameter($owned->address, self::BROTLI_QUALITY, $level);
        return static function (string $data, int $operation) use ($ffi, $owned) {
            [$bytes, $left, $next, $size] = self::pointers($ffi, $data);
            [$in, $from, $out] = [FFI::addr($left), FFI::addr($next), FFI::addr($size)];
            [$state, $encoded] = [$owned->address, ''];
            do {
                $size->cdata = 0;
                // The operations have the library's numbers: process, flush, finish.
                $isFine = $ffi->BrotliEncoderCompressStream($state, $operation, $in, $from, $out, null, null);
                $output = $ffi->cast('char *', $ffi->BrotliEncoderTakeOutput($state, $out));
                $encoded .= $size->cdata === 0 ? '' : FFI::string($output, $size->cdata);
            } while ($isFine && ($left->cdata > 0 || $ffi->BrotliEncoderHasMoreOutput($state)));
            $operation === Stream::FINISH && $owned->release();
            return $isFine ? $encoded : false;
        };
    }

    /** @return string|false */
    private static function unbrotli(string $data, int $maxBytes)
    {
        $ffi = self::library('unbr');
        $owned = new Pointer($ffi, $ffi->BrotliDecoderCreateInstance(null, null, null), 'BrotliDecoderDestroyInstance');
        [$bytes, $left, $next, $size] = self::pointers($ffi, $data);
        [$in, $from, $out] = [FFI::addr($left), FFI::addr($next), FFI::addr($size)];
        [$state, $decoded] = [$owned->address, ''];
        do {
            $size->cdata = 0;
            $code = $ffi->BrotliDecoderDecompressStream($state, $in, $from, $out, null, null);
            $output = $ffi->cast('char *', $ffi->BrotliDecoderTakeOutput($state, $out));
            $decoded .= $size->cdata === 0 ? '' : FFI::string($output, $size->cdata);
            // 3: it waits for room; 1: all is done.
        } while ($code === 3 && strlen($decoded) <= $maxBytes);
        $owned->release();
        return $code === 1 && $left->cdata === 0 ? $decoded : false;
    }

    /**
     * Content for a streaming function of Brotli: the bytes, to be kept, how many are left, where they begin, and room for a
     * size.
     *
     * @return list<CData>
     */
    private static function pointers(FFI $ffi, string $data): array
    {
        [$bytes, $left, $size] = [self::copied($ffi, $data), $ffi->new('size_t'), $ffi->new('size_t')];
        $left->cdata = strlen($data);
        return [$bytes, $left, $ffi->cast('const char *', $bytes), $size];
    }

    /** @return string|false */
    private function zstd(string $data, int $level, string $dictionary)
    {
        $ffi = self::library('zstd');
        if ($this->digested === null || [$dictionary, $level] !== [$this->digested[0], $this->digested[1]]) {
            $this->leave();
            $this->digested = [$dictionary, $level, self::context($level)];
            $ffi->ZSTD_CCtx_loadDictionary($this->digested[2]->address, $dictionary, strlen($dictionary));
        }
        $room = (int) $ffi->ZSTD_compressBound(strlen($data));
        $to = $ffi->new("char[$room]");
        $length = $ffi->ZSTD_compress2($this->digested[2]->address, $to, $room, $data, strlen($data));
        // To digest a dictionary takes longer than to encode with it; other contexts are large.
        $dictionary === '' || Pointer::$isEnding === true ? $this->leave() : null;
        return $ffi->ZSTD_isError($length) ? false : FFI::string($to, $length);
    }

    private function leave(): void
    {
        $this->digested === null ? null : $this->digested[2]->release();
        $this->digested = null;
    }

    private static function context(int $level): Pointer
    {
        $ffi = self::library('zstd');
        $context = new Pointer($ffi, $ffi->ZSTD_createCCtx(), 'ZSTD_freeCCtx');
        $ffi->ZSTD_CCtx_setParameter($context->address, self::ZSTD_LEVEL, $level);
        return $context;
    }

    /** @return Closure(string, int): (string|false) */
    private static function zstdStream(int $level): Closure
    {
        [$ffi, $owned] = [self::library('zstd'), self::context($level)];
        return static function (string $data, int $operation) use ($ffi, $owned) {
            [$bytes, $in, $room, $out] = self::buffers($ffi, $data);
            $encoded = '';
            do {
                $out->at = 0;
                // The operations have the library's numbers: continue, flush, end.
                $left = $ffi->ZSTD_compressStream2($owned->address, FFI::addr($out), FFI::addr($in), $operation);
                $isFine = !$ffi->ZSTD_isError($left);
                $encoded .= $isFine ? FFI::string($room, $out->at) : '';
            } while ($isFine && ($operation === Stream::ADD ? $in->at < $in->size : $left > 0));
            $operation === Stream::FINISH && $owned->release();
            return $isFine ? $encoded : false;
        };
    }

    /** @return string|false */
    private static function unzstd(string $data, int $maxBytes, string $dictionary)
    {
        $ffi = self::library('zstd');
        $owned = new Pointer($ffi, $ffi->ZSTD_createDCtx(), 'ZSTD_freeDCtx');
        if ($dictionary !== '') {
            // Negative: it is no frame, or does not say.
            $size = $ffi->ZSTD_getFrameContentSize($data, strlen($data));
            $to = $ffi->new('char[' . max(1, min($size, $maxBytes)) . ']');
            [$length, $more] = [strlen($data), strlen($dictionary)];
            $room = FFI::sizeof($to);
            $code = $ffi->ZSTD_decompress_usingDict($owned->address, $to, $room, $data, $length, $dictionary, $more);
            $owned->release();
            return $size < 0 || $ffi->ZSTD_isError($code) ? false : FFI::string($to, $code);
        }
        [$bytes, $in, $room, $out] = self::buffers($ffi, $data);
        $decoded = '';
        do {
            $out->at = 0;
            $left = $ffi->ZSTD_decompressStream($owned->address, FFI::addr($out), FFI::addr($in));
            $isFine = !$ffi->ZSTD_isError($left);
            $decoded .= $isFine ? FFI::string($room, $out->at) : '';
            // What it gives out may be less than fits, with more to come.
        } while ($isFine && strlen($decoded) <= $maxBytes && ($in->at < $in->size || $left > 0 && $out->at > 0));
        $owned->release();
        return $left === 0 && strlen($decoded) <= $maxBytes ? $decoded : false;
    }

    /**
     * Content for a streaming function of zstd, and room for what it gives, both with the library's pointers.
     *
     * @return list<CData>
     */
    private static function buffers(FFI $ffi, string $data): array
    {
        $size = min(self::ROOM, 4096 + 8 * strlen($data));
        [$bytes, $room] = [self::copied($ffi, $data), $ffi->new("char[$size]")];
        [$in, $out] = [$ffi->new('weigh_buffer'), $ffi->new('weigh_buffer')];
        [$in->bytes, $in->size] = [$ffi->cast('void *', FFI::addr($bytes)), strlen($data)];
        [$out->bytes, $out->size] = [$ffi->cast('void *', FFI::addr($room)), $size];
        return [$bytes, $in, $room, $out];
    }

    private static function copied(FFI $ffi, string $data): CData
    {
        $bytes = $ffi->new('char[' . max(1, strlen($data)) . ']');
        FFI::memcpy($bytes, $data, strlen($data));
        return $bytes;
    }

    private static function library(string $coding): ?FFI
    {
        [, $file, , $declarations] = self::LIBRARIES[$coding];
        try {
            return (self::$opened[$file] = self::$opened[$file] ?? FFI::cdef($declarations, $file)) ?: null;
        } catch (Throwable $error) {
            self::$opened[$file] = false;
            return null;
        }
    }
}
