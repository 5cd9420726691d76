<?php
/** Brotli in the callback of an output buffer, through the extension, else through FFI. */

use Weighbridge\Buffer;
use Weighbridge\Fault;
use Weighbridge\Library;
use Weighbridge\Owned;
use Weighbridge\Params;

return array(
    'kind' => 'on-the-fly',
    'codings' => array('br'),
    'subjects' => array('page'),
    'codec' => 'brotli',
    'options' => array(
        'pieces' => array('range' => array(1, 1000), 'about' => 'pieces, each flushed, through a stream; 1 without it'),
    ),
    'about' => 'ob_start() with a callback that calls brotli_compress() or, through FFI, BrotliEncoderCompress(), '
        . 'with Content-Length',
    'streams' => array(
        'extension' => function (Params $params) {
            if (!function_exists('brotli_compress_init')) {
                return null;
            }
            $context = brotli_compress_init($params->level);
            return function ($bytes, $last) use ($context) {
                return brotli_compress_add($context, $bytes, $last ? BROTLI_FINISH : BROTLI_FLUSH);
            };
        },
        'ffi' => function (Params $params) {
            $ffi = Library::open('libbrotlienc.so.1', '
                void *BrotliEncoderCreateInstance(void *allocate, void *release, void *opaque);
                void BrotliEncoderDestroyInstance(void *state);
                int BrotliEncoderSetParameter(void *state, int parameter, uint32_t value);
                size_t BrotliEncoderMaxCompressedSize(size_t size);
                int BrotliEncoderCompressStream(void *state, int operation, size_t *size_in, const char **next_in,
                    size_t *size_out, char **next_out, size_t *total);
                int BrotliEncoderHasMoreOutput(void *state);
            ');
            $state = new Owned($ffi->BrotliEncoderCreateInstance(null, null, null), function ($pointer) use ($ffi) {
                $ffi->BrotliEncoderDestroyInstance($pointer);
            });
            // Parameter 1 is the quality, 2 the window.
            $ffi->BrotliEncoderSetParameter($state->pointer, 1, $params->level);
            $ffi->BrotliEncoderSetParameter($state->pointer, 2, (int) $params->option('window', '22'));
            $room = new Buffer($ffi);
            $copy = new Buffer($ffi);
            return function ($bytes, $last) use ($ffi, $state, $room, $copy) {
                $in = $ffi->new('size_t');
                $out = $ffi->new('size_t');
                $in->cdata = strlen($bytes);
                $copy->hold($in->cdata);
                \FFI::memcpy($copy->bytes, $bytes, $in->cdata);
                $next = $ffi->cast('const char *', $copy->bytes);
                $room->hold(max(1 << 16, $ffi->BrotliEncoderMaxCompressedSize($in->cdata)));
                $sent = '';
                do {
                    $out->cdata = $room->size;
                    $to = $ffi->cast('char *', $room->bytes);
                    // Operation 1 flushes, 2 finishes.
                    $fine = $ffi->BrotliEncoderCompressStream(
                        $state->pointer,
                        $last ? 2 : 1,
                        \FFI::addr($in),
                        \FFI::addr($next),
                        \FFI::addr($out),
                        \FFI::addr($to),
                        null
                    );
                    if (!$fine) {
                        throw new Fault('codec', 'BrotliEncoderCompressStream failed');
                    }
                    $sent .= \FFI::string($room->bytes, $room->size - $out->cdata);
                } while ($in->cdata > 0 || $ffi->BrotliEncoderHasMoreOutput($state->pointer));
                return $sent;
            };
        },
    ),
);
