<?php
/** Brotli through the brotli extension, else through FFI. */

use Weighbridge\Buffer;
use Weighbridge\Coder;
use Weighbridge\Extension;
use Weighbridge\Fault;
use Weighbridge\Library;
use Weighbridge\Params;

$encoder = 'libbrotlienc.so.1';
$encoderHeader = '
    uint32_t BrotliEncoderVersion(void);
    size_t BrotliEncoderMaxCompressedSize(size_t size);
    int BrotliEncoderCompress(int quality, int window, int mode, size_t size, const char *from,
        size_t *length, char *to);
';
$decoder = 'libbrotlidec.so.1';
$decoderHeader = '
    int BrotliDecoderDecompress(size_t size, const char *from, size_t *length, char *to);
';

return array(
    'format' => 'br',
    'sets' => array('web', 'cache', 'archive'),
    'levels' => array('min' => 0, 'max' => 11, 'default' => 11, 'representative' => array(1, 4, 6, 9, 11)),
    'options' => array(
        'window' => array('range' => array(10, 24), 'about' => 'base-2 logarithm of the window; 22 without it; FFI only'),
    ),
    'nominal' => array(array(0, 250.0), array(1, 160.0), array(4, 40.0), array(6, 20.0), array(9, 7.5), array(11, 0.5)),
    'bindings' => array(
        'extension' => array(
            'missing' => function () {
                return Extension::missing('brotli', 'brotli_compress');
            },
            'library' => function () {
                return Extension::library('brotli', 'brotli', array('Brotli library version'));
            },
            // brotli_compress() has no parameter for the window.
            'refuses' => array('window'),
            'coder' => function (Params $params) {
                return new Coder(array('brotli_compress', $params->level), array('brotli_uncompress'));
            },
        ),
        'ffi' => array(
            'missing' => function () use ($encoder, $encoderHeader, $decoder, $decoderHeader) {
                return Library::missing($encoder, 'libbrotli1', $encoderHeader)
                    ?: Library::missing($decoder, 'libbrotli1', $decoderHeader);
            },
            'library' => function () use ($encoder, $encoderHeader) {
                $version = Library::open($encoder, $encoderHeader)->BrotliEncoderVersion();
                return sprintf('brotli %d.%d.%d', $version >> 24, ($version >> 12) & 0xfff, $version & 0xfff);
            },
            'coder' => function (Params $params) use ($encoder, $encoderHeader, $decoder, $decoderHeader) {
                $enc = Library::open($encoder, $encoderHeader);
                $dec = Library::open($decoder, $decoderHeader);
                $buffer = new Buffer($enc);
                $length = $enc->new('size_t');
                $address = \FFI::addr($length);
                $level = $params->level;
                $window = (int) $params->option('window', '22');
                return new Coder(
                    function ($input) use ($enc, $buffer, $length, $address, $level, $window) {
                        $size = strlen($input);
                        $buffer->hold($enc->BrotliEncoderMaxCompressedSize($size));
                        $length->cdata = $buffer->size;
                        // Mode 0 is generic, the library's own default.
                        if (!$enc->BrotliEncoderCompress($level, $window, 0, $size, $input, $address, $buffer->bytes)) {
                            throw new Fault('codec', 'BrotliEncoderCompress failed');
                        }
                        return \FFI::string($buffer->bytes, $length->cdata);
                    },
                    function ($encoded, $expected) use ($dec, $buffer, $length, $address) {
                        $buffer->hold($expected);
                        $length->cdata = $expected;
                        $code = $dec->BrotliDecoderDecompress(strlen($encoded), $encoded, $address, $buffer->bytes);
                        if ($code !== 1) {
                            throw new Fault('codec', "BrotliDecoderDecompress returned $code");
                        }
                        return \FFI::string($buffer->bytes, $length->cdata);
                    }
                );
            },
        ),
        'weighbridge' => Extension::weighbridgeBinding(function () {
            return 'br';
        }) + array('refuses' => array('window')),
    ),
);
