<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use FFI;
use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Stream;

/**
 * A stream of libbrotlienc.
 *
 * @internal
 */
final class LibBrotliStream implements Stream
{
    private FFI $ffi;

    private Pointer $state;

    public function __construct(int $level)
    {
        $this->ffi = FFI::cdef(LibBrotli::ENCODER_HEADER, LibBrotli::ENCODER);
        $state = $this->ffi->BrotliEncoderCreateInstance(null, null, null);
        $this->state = new Pointer($this->ffi, $state, 'BrotliEncoderDestroyInstance');
        // Parameter 1 is the quality, 2 the window.
        $this->ffi->BrotliEncoderSetParameter($state, 1, $level);
        $this->ffi->BrotliEncoderSetParameter($state, 2, LibBrotli::WINDOW);
    }

    public function add(string $data): string
    {
        return $this->step($data, 0);
    }

    public function flush(): string
    {
        return $this->step('', 1);
    }

    public function finish(): string
    {
        $encoded = $this->step('', 2);
        $this->state->release();
        return $encoded;
    }

    /** @param int $operation the library's number: process, flush, finish */
    private function step(string $data, int $operation): string
    {
        $ffi = $this->ffi;
        $bytes = $ffi->new('char[' . max(1, strlen($data)) . ']');
        FFI::memcpy($bytes, $data, strlen($data));
        $left = $ffi->new('size_t');
        $left->cdata = strlen($data);
        $next = $ffi->cast('const char *', $bytes);
        $size = $ffi->new('size_t');
        [$in, $from, $out] = [FFI::addr($left), FFI::addr($next), FFI::addr($size)];
        $state = $this->state->address;
        $encoded = '';
        do {
            $size->cdata = 0;
            if (!$ffi->BrotliEncoderCompressStream($state, $operation, $in, $from, $out, null, null)) {
                throw new CodecFailure('br: the stream could not be continued');
            }
            $output = $ffi->BrotliEncoderTakeOutput($state, $out);
            $encoded .= $size->cdata === 0 ? '' : FFI::string($ffi->cast('char *', $output), $size->cdata);
        } while ($left->cdata > 0 || $ffi->BrotliEncoderHasMoreOutput($state));
        return $encoded;
    }
}
