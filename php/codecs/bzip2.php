<?php
/** bzip2 through PHP's bz2 extension, else through FFI. Its levels are block sizes in steps of 100,000 bytes. */

use Weighbridge\Buffer;
use Weighbridge\Coder;
use Weighbridge\Extension;
use Weighbridge\Fault;
use Weighbridge\Library;
use Weighbridge\Params;

$soname = 'libbz2.so.1.0';
$header = '
    const char *BZ2_bzlibVersion(void);
    int BZ2_bzBuffToBuffCompress(char *to, unsigned int *length, const char *from, unsigned int size,
        int level, int verbosity, int work);
    int BZ2_bzBuffToBuffDecompress(char *to, unsigned int *length, const char *from, unsigned int size,
        int small, int verbosity);
';

return array(
    'format' => 'bzip2',
    'sets' => array('archive'),
    'levels' => array('min' => 1, 'max' => 9, 'default' => 4, 'representative' => array(1, 4, 9)),
    'nominal' => array(array(1, 14.0), array(9, 12.0)),
    'bindings' => array(
        'extension' => array(
            'missing' => function () {
                return Extension::missing('bz2', 'bzcompress');
            },
            'library' => function () {
                return Extension::library('bzip2', 'bz2', array('BZip2 Version'));
            },
            'coder' => function (Params $params) {
                // bzdecompress() takes no greatest length: what it gives is compared, and that is the bound.
                return new Coder(array('bzcompress', $params->level), array('bzdecompress'));
            },
        ),
        'ffi' => array(
            'missing' => function () use ($soname, $header) {
                return Library::missing($soname, 'libbz2-1.0', $header);
            },
            'library' => function () use ($soname, $header) {
                return 'bzip2 ' . strtok(Library::open($soname, $header)->BZ2_bzlibVersion(), ',');
            },
            'coder' => function (Params $params) use ($soname, $header) {
                $ffi = Library::open($soname, $header);
                $buffer = new Buffer($ffi);
                $length = $ffi->new('unsigned int');
                $address = \FFI::addr($length);
                $level = $params->level;
                return new Coder(
                    function ($input) use ($ffi, $buffer, $length, $address, $level) {
                        $size = strlen($input);
                        $buffer->hold($size + (int) ($size / 100) + 600);
                        $length->cdata = $buffer->size;
                        // 0, 0: silent, and the library's own work factor, as in the extension.
                        $code = $ffi->BZ2_bzBuffToBuffCompress($buffer->bytes, $address, $input, $size, $level, 0, 0);
                        if ($code !== 0) {
                            throw new Fault('codec', "BZ2_bzBuffToBuffCompress returned $code");
                        }
                        return \FFI::string($buffer->bytes, $length->cdata);
                    },
                    function ($encoded, $expected) use ($ffi, $buffer, $length, $address) {
                        $buffer->hold($expected);
                        $length->cdata = $expected;
                        $code = $ffi->BZ2_bzBuffToBuffDecompress(
                            $buffer->bytes,
                            $address,
                            $encoded,
                            strlen($encoded),
                            0,
                            0
                        );
                        if ($code !== 0) {
                            throw new Fault('codec', "BZ2_bzBuffToBuffDecompress returned $code");
                        }
                        return \FFI::string($buffer->bytes, $length->cdata);
                    }
                );
            },
        ),
    ),
);
