<?php
/** The .xz container through FFI; there is no extension for it in PHP. */

use Weighbridge\Buffer;
use Weighbridge\Coder;
use Weighbridge\Fault;
use Weighbridge\Library;
use Weighbridge\Params;

$soname = 'liblzma.so.5';
$package = 'liblzma5';
$header = '
    const char *lzma_version_string(void);
    size_t lzma_stream_buffer_bound(size_t size);
    int lzma_easy_buffer_encode(uint32_t preset, int check, const void *allocator,
        const char *from, size_t size, char *to, size_t *position, size_t room);
    int lzma_stream_buffer_decode(uint64_t *memory, uint32_t flags, const void *allocator,
        const char *from, size_t *taken, size_t size, char *to, size_t *position, size_t room);
';

return array(
    'format' => 'xz',
    'sets' => array('archive'),
    'levels' => array('min' => 0, 'max' => 9, 'default' => 6, 'representative' => array(0, 3, 6, 9)),
    'nominal' => array(array(0, 25.0), array(3, 8.0), array(6, 3.0), array(9, 2.5)),
    'bindings' => array(
        'ffi' => array(
            'missing' => function () use ($soname, $package, $header) {
                return Library::missing($soname, $package, $header);
            },
            'library' => function () use ($soname, $header) {
                return 'liblzma ' . Library::open($soname, $header)->lzma_version_string();
            },
            'coder' => function (Params $params) use ($soname, $header) {
                $ffi = Library::open($soname, $header);
                $buffer = new Buffer($ffi);
                // Numbers that the library writes to, and their addresses.
                $position = $ffi->new('size_t');
                $taken = $ffi->new('size_t');
                $memory = $ffi->new('uint64_t');
                $to = \FFI::addr($position);
                $from = \FFI::addr($taken);
                $limit = \FFI::addr($memory);
                $level = $params->level;
                return new Coder(
                    function ($input) use ($ffi, $buffer, $position, $to, $level) {
                        $size = strlen($input);
                        $buffer->hold($ffi->lzma_stream_buffer_bound($size));
                        $position->cdata = 0;
                        // 4 is CRC64, the check that the xz program stores.
                        $code = $ffi->lzma_easy_buffer_encode(
                            $level,
                            4,
                            null,
                            $input,
                            $size,
                            $buffer->bytes,
                            $to,
                            $buffer->size
                        );
                        if ($code !== 0) {
                            throw new Fault('codec', "lzma_easy_buffer_encode returned $code");
                        }
                        return \FFI::string($buffer->bytes, $position->cdata);
                    },
                    function ($encoded, $expected) use ($ffi, $buffer, $position, $taken, $memory, $to, $from, $limit) {
                        $buffer->hold($expected);
                        $position->cdata = 0;
                        $taken->cdata = 0;
                        // Twice the dictionary of level 9, the largest that is written here.
                        $memory->cdata = 128 << 20;
                        $code = $ffi->lzma_stream_buffer_decode(
                            $limit,
                            0,
                            null,
                            $encoded,
                            $from,
                            strlen($encoded),
                            $buffer->bytes,
                            $to,
                            $expected
                        );
                        if ($code !== 0) {
                            throw new Fault('codec', "lzma_stream_buffer_decode returned $code");
                        }
                        return \FFI::string($buffer->bytes, $position->cdata);
                    }
                );
            },
        ),
    ),
);
