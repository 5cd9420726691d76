<?php
/** LZ4 in its fast form through the lz4 extension, else through FFI. */

use Weighbridge\Buffer;
use Weighbridge\Coder;
use Weighbridge\Extension;
use Weighbridge\Fault;
use Weighbridge\Library;

$soname = 'liblz4.so.1';
$header = '
    const char *LZ4_versionString(void);
    int LZ4_compressBound(int size);
    int LZ4_compress_default(const char *from, char *to, int size, int room);
    int LZ4_decompress_safe(const char *from, char *to, int size, int room);
';

return array(
    // A bare block. The extension puts four bytes with the length before it, which no other decoder knows.
    'format' => 'lz4-block',
    'sets' => array('cache', 'fast'),
    'nominal' => array(array(0, 420.0)),
    'bindings' => array(
        'extension' => array(
            'format' => 'php-lz4',
            'missing' => function () {
                return Extension::missing('lz4', 'lz4_compress');
            },
            'library' => function () {
                return Extension::library('lz4', 'lz4', array('LZ4 Version'));
            },
            'coder' => function () {
                return new Coder(array('lz4_compress'), array('lz4_uncompress'));
            },
        ),
        'ffi' => array(
            'missing' => function () use ($soname, $header) {
                return Library::missing($soname, 'liblz4-1', $header);
            },
            'library' => function () use ($soname, $header) {
                return 'lz4 ' . Library::open($soname, $header)->LZ4_versionString();
            },
            'coder' => function () use ($soname, $header) {
                $ffi = Library::open($soname, $header);
                $buffer = new Buffer($ffi);

                return new Coder(
                    function ($input) use ($ffi, $buffer) {
                        $size = strlen($input);
                        $buffer->hold($ffi->LZ4_compressBound($size));
                        $length = $ffi->LZ4_compress_default($input, $buffer->bytes, $size, $buffer->size);
                        if ($length <= 0) {
                            throw new Fault('codec', "LZ4_compress_default returned $length for $size bytes");
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
