<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use FFI;
use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Stream;

/** Brotli's own libraries through FFI. */
final class LibBrotli implements Binding
{
    private const ENCODER = 'libbrotlienc.so.1';
    private const ENCODER_HEADER = '
        size_t BrotliEncoderMaxCompressedSize(size_t size);
        int BrotliEncoderCompress(int quality, int window, int mode, size_t size, const char *from, size_t *length,
            char *to);
        void *BrotliEncoderCreateInstance(void *allocate, void *release, void *opaque);
        void BrotliEncoderDestroyInstance(void *state);
        int BrotliEncoderSetParameter(void *state, int parameter, uint32_t value);
        int BrotliEncoderCompressStream(void *state, int operation, size_t *size_in, const char **next_in,
            size_t *size_out, char **next_out, size_t *total);
        void *BrotliEncoderTakeOutput(void *state, size_t *size);
        int BrotliEncoderHasMoreOutput(void *state);
    ';
    private const DECODER = 'libbrotlidec.so.1';
    private const DECODER_HEADER = '
        void *BrotliDecoderCreateInstance(void *allocate, void *release, void *opaque);
        void BrotliDecoderDestroyInstance(void *state);
        int BrotliDecoderDecompressStream(void *state, size_t *size_in, const char **next_in, size_t *size_out,
            char **next_out, size_t *total);
        void *BrotliDecoderTakeOutput(void *state, size_t *size);
    ';
    private const WINDOW = 22;
    /** What the decoder answers when all is done, and when it waits for room. */
    private const DONE = 1;
    private const WANTS_ROOM = 3;

    public function name(): string
    {
        return 'libbrotli through FFI';
    }

    public function encodesAs(string $encoder): bool
    {
        return $encoder === 'brotli';
    }

    public function can(string $coding, int $what): bool
    {
        return $coding === 'br'
            && ($what & self::DICTIONARY) === 0
            && (($what & (self::ENCODE | self::STREAM)) === 0
                || Library::open(self::ENCODER, self::ENCODER_HEADER) !== null)
            && (($what & self::DECODE) === 0 || Library::open(self::DECODER, self::DECODER_HEADER) !== null);
    }

    public function encode(string $data, string $coding, int $level, ?string $dictionary): string
    {
        $ffi = self::opened(self::ENCODER, self::ENCODER_HEADER);
        $room = (int) $ffi->BrotliEncoderMaxCompressedSize(strlen($data));
        $buffer = $ffi->new("char[$room]");
        $length = $ffi->new('size_t');
        $length->cdata = $room;
        $size = strlen($data);
        if (!$ffi->BrotliEncoderCompress($level, self::WINDOW, 0, $size, $data, FFI::addr($length), $buffer)) {
            throw new CodecFailure('br: BrotliEncoderCompress() failed');
        }
        return FFI::string($buffer, $length->cdata);
    }

    public function decode(string $data, string $coding, int $maxBytes, ?string $dictionary): string
    {
        $ffi = self::opened(self::DECODER, self::DECODER_HEADER);
        $state = new Pointer($ffi, $ffi->BrotliDecoderCreateInstance(null, null, null), 'BrotliDecoderDestroyInstance');
        $input = new Input($ffi, $data);
        $room = $ffi->new('size_t');
        $decoded = '';
        do {
            $code = $ffi->BrotliDecoderDecompressStream(
                $state->address,
                FFI::addr($input->size),
                FFI::addr($input->next),
                FFI::addr($room),
                null,
                null
            );
            $decoded .= self::output($ffi, 'BrotliDecoderTakeOutput', $state);
        } while ($code === self::WANTS_ROOM && strlen($decoded) <= $maxBytes);
        $state->release();
        if ($code !== self::DONE || $input->size->cdata !== 0) {
            throw new CodecFailure("br: the content is corrupt, cut short, or larger than $maxBytes bytes");
        }
        return $decoded;
    }

    public function stream(string $coding, int $level): Stream
    {
        $ffi = self::opened(self::ENCODER, self::ENCODER_HEADER);
        $state = new Pointer($ffi, $ffi->BrotliEncoderCreateInstance(null, null, null), 'BrotliEncoderDestroyInstance');
        // Parameter 1 is the quality, 2 the window.
        $ffi->BrotliEncoderSetParameter($state->address, 1, $level);
        $ffi->BrotliEncoderSetParameter($state->address, 2, self::WINDOW);
        return new Pieces(static function (string $data, int $operation) use ($ffi, $state) {
            $input = new Input($ffi, $data);
            $room = $ffi->new('size_t');
            $encoded = '';
            do {
                // The operations have the library's numbers: process, flush, finish.
                $fine = $ffi->BrotliEncoderCompressStream(
                    $state->address,
                    $operation,
                    FFI::addr($input->size),
                    FFI::addr($input->next),
                    FFI::addr($room),
                    null,
                    null
                );
                $encoded .= self::output($ffi, 'BrotliEncoderTakeOutput', $state);
            } while ($fine && ($input->size->cdata > 0 || $ffi->BrotliEncoderHasMoreOutput($state->address)));
            if ($operation === Pieces::FINISH) {
                $state->release();
            }
            return $fine ? $encoded : false;
        });
    }

    /** What the library has ready, from its own buffer. */
    private static function output(FFI $ffi, string $function, Pointer $state): string
    {
        $size = $ffi->new('size_t');
        $from = $ffi->$function($state->address, FFI::addr($size));
        if ($size->cdata === 0) {
            return '';
        }
        return FFI::string($ffi->cast('char *', $from), $size->cdata);
    }

    private static function opened(string $soname, string $header): FFI
    {
        $ffi = Library::open($soname, $header);
        if ($ffi === null) {
            throw new CodecFailure("$soname cannot be opened");
        }
        return $ffi;
    }
}
