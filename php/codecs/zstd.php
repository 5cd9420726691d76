<?php
/** Zstandard through the zstd extension, else through FFI. */

use Weighbridge\Buffer;
use Weighbridge\Coder;
use Weighbridge\Extension;
use Weighbridge\Fault;
use Weighbridge\Library;
use Weighbridge\Params;

$soname = 'libzstd.so.1';
$header = '
    const char *ZSTD_versionString(void);
    size_t ZSTD_compressBound(size_t size);
    size_t ZSTD_compress(char *to, size_t room, const char *from, size_t size, int level);
    size_t ZSTD_decompress(char *to, size_t room, const char *from, size_t size);
    unsigned ZSTD_isError(size_t code);
    const char *ZSTD_getErrorName(size_t code);
';

return array(
    'format' => 'zstd',
    'sets' => array('web', 'cache', 'fast', 'archive'),
    'levels' => array('min' => -7, 'max' => 22, 'default' => 3, 'representative' => array(-5, -1, 1, 3, 6, 9, 15, 19)),
    'nominal' => array(
        array(-7, 600.0), array(1, 280.0), array(3, 160.0), array(9, 32.0), array(15, 5.0), array(19, 1.3), array(22, 1.0),
    ),
    'bindings' => array(
        'extension' => array(
            'missing' => function () {
                return Extension::missing('zstd', 'zstd_compress');
            },
            'library' => function () {
                return Extension::library('zstd', 'zstd', array('Interface Version', 'Libzstd version'));
            },
            'coder' => function (Params $params) {
                // zstd_uncompress() allocates what the frame says and takes no greatest length; the comparison is
                // the bound.
                return new Coder(array('zstd_compress', $params->level), array('zstd_uncompress'));
            },
        ),
        'ffi' => array(
            'missing' => function () use ($soname, $header) {
                return Library::missing($soname, 'libzstd1', $header);
            },
            'library' => function () use ($soname, $header) {
                return 'zstd ' . Library::open($soname, $header)->ZSTD_versionString();
            },
            // The one-shot calls make and drop their context each time, as the extension's do, so that the two
            // bindings differ in nothing but the way to the library.
            'coder' => function (Params $params) use ($soname, $header) {
                $ffi = Library::open($soname, $header);
                $buffer = new Buffer($ffi);
                $level = $params->level;
                return new Coder(
                    function ($input) use ($ffi, $buffer, $level) {
                        $size = strlen($input);
                        $buffer->hold($ffi->ZSTD_compressBound($size));
                        $length = $ffi->ZSTD_compress($buffer->bytes, $buffer->size, $input, $size, $level);
                        if ($ffi->ZSTD_isError($length)) {
                            throw new Fault('codec', 'ZSTD_compress: ' . $ffi->ZSTD_getErrorName($length));
                        }
                        return \FFI::string($buffer->bytes, $length);
                    },
                    function ($encoded, $expected) use ($ffi, $buffer) {
                        $buffer->hold($expected);
                        $length = $ffi->ZSTD_decompress($buffer->bytes, $expected, $encoded, strlen($encoded));
                        if ($ffi->ZSTD_isError($length)) {
                            throw new Fault('codec', 'ZSTD_decompress: ' . $ffi->ZSTD_getErrorName($length));
                        }
                        return \FFI::string($buffer->bytes, $length);
                    }
                );
            },
        ),
        'weighbridge' => Extension::weighbridgeBinding(function () {
            return 'zstd';
        }),
    ),
);
