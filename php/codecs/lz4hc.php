<?php
/** LZ4 in its high-compression form through the lz4 extension, else through FFI. */

use Weighbridge\Buffer;
use Weighbridge\Fault;
use Weighbridge\Lz4;

return array(
    // A bare block.
    'format' => 'lz4-block',
    'sets' => array('cache', 'archive'),
    'levels' => array('min' => 1, 'max' => 12, 'default' => 9, 'representative' => array(3, 9, 12)),
    'nominal' => array(array(1, 70.0), array(9, 24.0), array(12, 6.0)),
    'bindings' => Lz4::bindings(function ($ffi, Buffer $buffer, $level) {
        return function ($input) use ($ffi, $buffer, $level) {
            $size = strlen($input);
            $buffer->hold($ffi->LZ4_compressBound($size));
            $length = $ffi->LZ4_compress_HC($input, $buffer->bytes, $size, $buffer->size, $level);
            if ($length <= 0) {
                throw new Fault('codec', "LZ4_compress_HC returned $length for $size bytes");
            }
            return \FFI::string($buffer->bytes, $length);
        };
    }),
);
