<?php
/** Snappy through the snappy extension, else through FFI. */

use Weighbridge\Buffer;
use Weighbridge\Coder;
use Weighbridge\Extension;
use Weighbridge\Fault;
use Weighbridge\Library;

$soname = 'libsnappy.so.1';
$header = '
    size_t snappy_max_compressed_length(size_t size);
    int snappy_compress(const char *from, size_t size, char *to, size_t *length);
    int snappy_uncompress(const char *from, size_t size, char *to, size_t *length);
';

return array(
    'format' => 'snappy',
    'sets' => array('cache', 'fast'),
    'nominal' => array(array(0, 400.0)),
    'bindings' => array(
        'extension' => array(
            'missing' => function () {
                return Extension::missing('snappy', 'snappy_compress');
            },
            'library' => function () use ($soname) {
                // A build against the system's library says `system library`; the file tells more.
                $version = Extension::version('snappy', array('Snappy Version'));
                return 'snappy ' . ($version ?: Library::versionOfFile($soname, 'libsnappy1v5'));
            },
            'coder' => function () {
                return new Coder(array('snappy_compress'), array('snappy_uncompress'));
            },
        ),
        'ffi' => array(
            'missing' => function () use ($soname, $header) {
                return Library::missing($soname, 'libsnappy1v5', $header);
            },
            'library' => function () use ($soname) {
                return 'snappy ' . Library::versionOfFile($soname, 'libsnappy1v5');
            },
            'coder' => function () use ($soname, $header) {
                $ffi = Library::open($soname, $header);
                $buffer = new Buffer($ffi);
                $length = $ffi->new('size_t');
                $address = \FFI::addr($length);
                return new Coder(
                    function ($input) use ($ffi, $buffer, $length, $address) {
                        $size = strlen($input);
                        $buffer->hold($ffi->snappy_max_compressed_length($size));
                        $length->cdata = $buffer->size;
                        $code = $ffi->snappy_compress($input, $size, $buffer->bytes, $address);
                        if ($code !== 0) {
                            throw new Fault('codec', "snappy_compress returned $code");
                        }
                        return \FFI::string($buffer->bytes, $length->cdata);
                    },
                    function ($encoded, $expected) use ($ffi, $buffer, $length, $address) {
                        $buffer->hold($expected);
                        $length->cdata = $expected;
                        $code = $ffi->snappy_uncompress($encoded, strlen($encoded), $buffer->bytes, $address);
                        if ($code !== 0) {
                            throw new Fault('codec', "snappy_uncompress returned $code");
                        }
                        return \FFI::string($buffer->bytes, $length->cdata);
                    }
                );
            },
        ),
    ),
);
