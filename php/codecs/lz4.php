<?php
/** LZ4 in its fast form through the lz4 extension, else through FFI. */

use Weighbridge\Buffer;
use Weighbridge\Fault;
use Weighbridge\Lz4;

return array(
    // A bare block.
    'format' => 'lz4-block',
    'sets' => array('cache', 'fast'),
    'nominal' => array(array(0, 420.0)),
    'bindings' => Lz4::bindings(function ($ffi, Buffer $buffer) {
        return function ($input) use ($ffi, $buffer) {
            $size = strlen($input);
            $buffer->hold($ffi->LZ4_compressBound($size));
            $length = $ffi->LZ4_compress_default($input, $buffer->bytes, $size, $buffer->size);
            if ($length <= 0) {
                throw new Fault('codec', "LZ4_compress_default returned $length for $size bytes");
            }
            return \FFI::string($buffer->bytes, $length);
        };
    }),
);
