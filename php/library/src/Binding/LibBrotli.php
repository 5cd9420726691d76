<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use Closure;
use FFI;
use Throwable;
use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Stream;

/** @internal Brotli's libraries through FFI. Declarations are fixed: a preloaded class may call any function (README.md). */
final class LibBrotli implements Binding
{
    private const ENCODER = 'libbrotlienc.so.1';
    private const ENCODER_HEADER = '
        void *BrotliEncoderCreateInstance(void *allocate, void *release, void *opaque);
        void BrotliEncoderDestroyInstance(void *state);
        int BrotliEncoderSetParameter(void *state, int parameter, uint32_t value);
        int BrotliEncoderCompressStream(void *state, int operation, size_t *size_in, const char **next_in,
            size_t *size_out, char **next_out, size_t *total);
        void *BrotliEncoderTakeOutput(void *state, size_t *size);
        int BrotliEncoderHasMoreOutput(void *state);
    ';
    private const QUALITY = 1;
    private const DECODER = 'libbrotlidec.so.1';
    private const DECODER_HEADER = '
        void *BrotliDecoderCreateInstance(void *allocate, void *release, void *opaque);
        void BrotliDecoderDestroyInstance(void *state);
        int BrotliDecoderDecompressStream(void *state, size_t *size_in, const char **next_in, size_t *size_out,
            char **next_out, size_t *total);
        void *BrotliDecoderTakeOutput(void *state, size_t *size);
    ';
    /** What the decoder answers when all is done, and when it waits for room. */
    private const DONE = 1;
    private const WANTS_ROOM = 3;

    /** @var list<FFI>|null the encoder's and the decoder's; empty: they cannot be opened; null: not tried yet */
    private static ?array $libraries = null;

    public function can(string $coding, int $what): bool
    {
        return self::libraries() !== [] && $coding === 'br' && ($what & self::DICTIONARY) === 0;
    }

    public function encode(string $data, string $coding, int $level, ?string $dictionary): string
    {
        $encoded = self::encoder($level)($data, Stream::FINISH);
        if ($encoded === false) {
            throw new CodecFailure('br: the content could not be encoded');
        }
        return $encoded;
    }

    public function decode(string $data, string $coding, int $maxBytes, ?string $dictionary): string
    {
        [, $ffi] = self::libraries();
        $state = new Pointer($ffi, $ffi->BrotliDecoderCreateInstance(null, null, null), 'BrotliDecoderDestroyInstance');
        [$bytes, $left, $next, $size] = self::input($ffi, $data);
        [$in, $from, $out] = [FFI::addr($left), FFI::addr($next), FFI::addr($size)];
        $decoded = '';
        do {
            $size->cdata = 0;
            $code = $ffi->BrotliDecoderDecompressStream($state->address, $in, $from, $out, null, null);
            $output = $ffi->cast('char *', $ffi->BrotliDecoderTakeOutput($state->address, $out));
            $decoded .= $size->cdata === 0 ? '' : FFI::string($output, $size->cdata);
        } while ($code === self::WANTS_ROOM && strlen($decoded) <= $maxBytes);
        $state->release();
        if ($code !== self::DONE || $left->cdata !== 0) {
            throw new CodecFailure("br: the content is corrupt, cut short, or larger than $maxBytes bytes");
        }
        return $decoded;
    }

    public function stream(string $coding, int $level): Stream
    {
        return new Stream(self::encoder($level));
    }

    /** @return Closure(string, int): (string|false) */
    private static function encoder(int $level): Closure
    {
        [$ffi] = self::libraries();
        $owned = new Pointer($ffi, $ffi->BrotliEncoderCreateInstance(null, null, null), 'BrotliEncoderDestroyInstance');
        $ffi->BrotliEncoderSetParameter($owned->address, self::QUALITY, $level);
        return static function (string $data, int $operation) use ($ffi, $owned) {
            [$bytes, $left, $next, $size] = self::input($ffi, $data);
            [$in, $from, $out] = [FFI::addr($left), FFI::addr($next), FFI::addr($size)];
            $state = $owned->address;
            $encoded = '';
            do {
                $size->cdata = 0;
                // The operations have the library's numbers: process, flush, finish.
                $isFine = $ffi->BrotliEncoderCompressStream($state, $operation, $in, $from, $out, null, null);
                $output = $ffi->cast('char *', $ffi->BrotliEncoderTakeOutput($state, $out));
                $encoded .= $size->cdata === 0 ? '' : FFI::string($output, $size->cdata);
            } while ($isFine && ($left->cdata > 0 || $ffi->BrotliEncoderHasMoreOutput($state)));
            if ($operation === Stream::FINISH) {
                $owned->release();
            }
            return $isFine ? $encoded : false;
        };
    }

    /**
     * Content for a streaming function: the bytes, to be kept, how many are left, where they begin, and room for a size.
     *
     * @return list<FFI\CData>
     */
    private static function input(FFI $ffi, string $data): array
    {
        $bytes = $ffi->new('char[' . max(1, strlen($data)) . ']');
        FFI::memcpy($bytes, $data, strlen($data));
        [$left, $size] = [$ffi->new('size_t'), $ffi->new('size_t')];
        $left->cdata = strlen($data);
        return [$bytes, $left, $ffi->cast('const char *', $bytes), $size];
    }

    /** @return list<FFI> */
    private static function libraries(): array
    {
        try {
            return self::$libraries ?? self::$libraries = [
                FFI::cdef(self::ENCODER_HEADER, self::ENCODER), FFI::cdef(self::DECODER_HEADER, self::DECODER),
            ];
        } catch (Throwable $error) {
            return self::$libraries = [];
        }
    }
}
