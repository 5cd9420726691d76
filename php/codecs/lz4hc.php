<?php
/** LZ4 in its high-compression form through the lz4 extension, else through FFI. */

use Weighbridge\Buffer;
use Weighbridge\Coder;
use Weighbridge\Extension;
use Weighbridge\Fault;
use Weighbridge\Library;
use Weighbridge\Params;

$soname = 'liblz4.so.1';
$header = '
    const char *LZ4_versionString(void);
    int LZ4_compressBound(int size);
    int LZ4_compress_HC(const char *from, char *to, int size, int room, int level);
    int LZ4_decompress_safe(const char *from, char *to, int size, int room);
';

return array(
    // A bare block. The extension puts four bytes with the length before it, which no other decoder knows.
    'format' => 'lz4-block',
    'sets' => array('cache', 'archive'),
    'levels' => array('min' => 1, 'max' => 12, 'default' => 9, 'representative' => array(3, 9, 12)),
    'nominal' => array(array(1, 70.0), array(9, 24.0), array(12, 6.0)),
    'bindings' => array(
        'extension' => array(
            'format' => 'php-lz4',
            'missing' => function () {
                return Extension::missing('lz4', 'lz4_compress');
            },
            'library' => function () {
                return Extension::library('lz4', 'lz4', array('LZ4 Version'));
            },
            'coder' => function (Params $params) {
                return new Coder(array('lz4_compress', $params->level), array('lz4_uncompress'));
            },
        ),
        'ffi' => array(
            'missing' => function () use ($soname, $header) {
                return Library::missing($soname, 'liblz4-1', $header);
            },
            'library' => function () use ($soname, $header) {
                return 'lz4 ' . Library::open($soname, $header)->LZ4_versionString();
            },
            'coder' => function (Params $params) use ($soname, $header) {
                $ffi = Library::open($soname, $header);
                $buffer = new Buffer($ffi);
                $level = $params->level;
                return new Coder(
                    function ($input) use ($ffi, $buffer, $level) {
                        $size = strlen($input);
                        $buffer->hold($ffi->LZ4_compressBound($size));
                        $length = $ffi->LZ4_compress_HC($input, $buffer->bytes, $size, $buffer->size, $level);
                        if ($length <= 0) {
                            throw new Fault('codec', "LZ4_compress_HC returned $length for $size bytes");
                        }
                        return \FFI::string($buffer->bytes, $length);
                    },
                    function ($encoded, $expected) use ($ffi, $buffer) {
                        $buffer->hold($expected);
                        $length = $ffi->LZ4_decompress_safe($encoded, $buffer->bytes, strlen($encoded), $expected);
                        if ($length < 0) {
                            throw new Fault('codec', "LZ4_decompress_safe returned $length");
                        }
                        return \FFI::string($buffer->bytes, $length);
                    }
                );
            },
        ),
    ),
);
