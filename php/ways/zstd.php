<?php
/** Zstandard in the callback of an output buffer, through the extension, else through FFI. */

use Weighbridge\Buffer;
use Weighbridge\Fault;
use Weighbridge\Library;
use Weighbridge\Owned;
use Weighbridge\Params;

return array(
    'kind' => 'on-the-fly',
    'codings' => array('zstd'),
    'subjects' => array('page'),
    'codec' => 'zstd',
    'options' => array(
        'pieces' => array('range' => array(1, 1000), 'about' => 'pieces, each flushed, through a stream; 1 without it'),
    ),
    'about' => 'ob_start() with a callback that calls zstd_compress() or, through FFI, ZSTD_compress(), with Content-Length',
    'streams' => array(
        'extension' => function (Params $params) {
            if (!function_exists('zstd_compress_init')) {
                return null;
            }
            $context = zstd_compress_init($params->level);
            return function ($bytes, $last) use ($context) {
                return zstd_compress_add($context, $bytes, $last);
            };
        },
        'ffi' => function (Params $params) {
            $ffi = Library::open('libzstd.so.1', '
                typedef struct { void *to; size_t size; size_t pos; } ZSTD_outBuffer;
                typedef struct { const void *from; size_t size; size_t pos; } ZSTD_inBuffer;
                void *ZSTD_createCCtx(void);
                size_t ZSTD_freeCCtx(void *context);
                size_t ZSTD_CCtx_setParameter(void *context, int parameter, int value);
                size_t ZSTD_compressBound(size_t size);
                size_t ZSTD_compressStream2(void *context, ZSTD_outBuffer *out, ZSTD_inBuffer *in, int end);
                unsigned ZSTD_isError(size_t code);
                const char *ZSTD_getErrorName(size_t code);
            ');
            $context = new Owned($ffi->ZSTD_createCCtx(), function ($pointer) use ($ffi) {
                $ffi->ZSTD_freeCCtx($pointer);
            });
            // 100 is ZSTD_c_compressionLevel.
            $ffi->ZSTD_CCtx_setParameter($context->pointer, 100, $params->level);
            $room = new Buffer($ffi);
            $copy = new Buffer($ffi);
            $out = $ffi->new('ZSTD_outBuffer');
            $in = $ffi->new('ZSTD_inBuffer');
            return function ($bytes, $last) use ($ffi, $context, $room, $copy, $out, $in) {
                $in->size = strlen($bytes);
                $in->pos = 0;
                $copy->hold($in->size);
                \FFI::memcpy($copy->bytes, $bytes, $in->size);
                $in->from = $ffi->cast('void *', \FFI::addr($copy->bytes));
                // Beyond the bound of the piece there may be bytes that were held back, up to a block, and an epilogue.
                $room->hold($ffi->ZSTD_compressBound($in->size) + (1 << 18));
                $out->to = $ffi->cast('void *', \FFI::addr($room->bytes));
                $out->size = $room->size;
                $sent = '';
                do {
                    $out->pos = 0;
                    // 1 is ZSTD_e_flush, 2 ZSTD_e_end; what is returned is left to be written.
                    $left = $ffi->ZSTD_compressStream2($context->pointer, \FFI::addr($out), \FFI::addr($in), $last ? 2 : 1);
                    if ($ffi->ZSTD_isError($left)) {
                        throw new Fault('codec', 'ZSTD_compressStream2: ' . $ffi->ZSTD_getErrorName($left));
                    }
                    $sent .= \FFI::string($room->bytes, $out->pos);
                } while ($left > 0);
                return $sent;
            };
        },
    ),
);
