<?php
/** libdeflate through FFI, else through the extension weighbridge. */

use Weighbridge\Buffer;
use Weighbridge\Coder;
use Weighbridge\Extension;
use Weighbridge\Fault;
use Weighbridge\Library;
use Weighbridge\Params;

$soname = 'libdeflate.so.0';
$package = 'libdeflate0';
$header = 'void *libdeflate_alloc_compressor(int level);
    void libdeflate_free_compressor(void *compressor);
    void *libdeflate_alloc_decompressor(void);
    void libdeflate_free_decompressor(void *decompressor);
';
// The three containers differ in the names of the functions only.
foreach (array('deflate', 'zlib', 'gzip') as $container) {
    $header .= "
    size_t libdeflate_{$container}_compress_bound(void *compressor, size_t size);
    size_t libdeflate_{$container}_compress(void *compressor, const char *from, size_t size, char *to, size_t room);
    int libdeflate_{$container}_decompress(void *decompressor, const char *from, size_t size, char *to, size_t room,
        size_t *length);
    ";
}

return array(
    'format' => 'deflate',
    'format_with' => function (Params $params) {
        $container = $params->option('container', 'raw');
        return $container === 'raw' ? 'deflate' : $container;
    },
    'sets' => array('web', 'cache', 'fast'),
    'levels' => array('min' => 0, 'max' => 12, 'default' => 6, 'representative' => array(1, 6, 9, 12)),
    'options' => array(
        'container' => array(
            'words' => array('raw', 'zlib', 'gzip'),
            'about' => 'what is put round the DEFLATE stream; raw without it',
        ),
    ),
    'nominal' => array(array(0, 3000.0), array(1, 215.0), array(6, 64.0), array(9, 21.0), array(12, 5.0)),
    'bindings' => array(
        'ffi' => array(
            'missing' => function () use ($soname, $package, $header) {
                return Library::missing($soname, $package, $header);
            },
            'library' => function () use ($soname, $package) {
                return 'libdeflate ' . Library::versionOfFile($soname, $package);
            },
            // A compressor is made once, for that is what its interface is for: it is told the level, and keeps
            // nothing from one call to the next.
            'coder' => function (Params $params) use ($soname, $header) {
                $ffi = Library::open($soname, $header);
                $free = function ($pointer, $function) use ($ffi) {
                    return new \Weighbridge\Owned($pointer, function ($pointer) use ($ffi, $function) {
                        $ffi->$function($pointer);
                    });
                };
                $compressor = $free(
                    $ffi->libdeflate_alloc_compressor($params->level),
                    'libdeflate_free_compressor'
                );
                $decompressor = $free($ffi->libdeflate_alloc_decompressor(), 'libdeflate_free_decompressor');
                $container = $params->option('container', 'raw');
                $name = 'libdeflate_' . ($container === 'raw' ? 'deflate' : $container);
                $bound = "{$name}_compress_bound";
                $compress = "{$name}_compress";
                $decompress = "{$name}_decompress";
                $buffer = new Buffer($ffi);
                $length = $ffi->new('size_t');
                $address = \FFI::addr($length);
                return new Coder(
                    function ($input) use ($ffi, $buffer, $compressor, $bound, $compress) {
                        $size = strlen($input);
                        $buffer->hold($ffi->$bound($compressor->pointer, $size));
                        $length = $ffi->$compress($compressor->pointer, $input, $size, $buffer->bytes, $buffer->size);
                        if ($length === 0) {
                            throw new Fault('codec', "$compress failed");
                        }
                        return \FFI::string($buffer->bytes, $length);
                    },
                    function ($encoded, $expected) use ($ffi, $buffer, $decompressor, $decompress, $length, $address) {
                        $buffer->hold($expected);
                        $code = $ffi->$decompress(
                            $decompressor->pointer,
                            $encoded,
                            strlen($encoded),
                            $buffer->bytes,
                            $expected,
                            $address
                        );
                        if ($code !== 0) {
                            throw new Fault('codec', "$decompress returned $code");
                        }
                        return \FFI::string($buffer->bytes, $length->cdata);
                    }
                );
            },
        ),
        'weighbridge' => Extension::weighbridgeBinding(function (Params $params) {
            $container = $params->option('container', 'raw');
            if ($container === 'raw') {
                $remedy = 'container=gzip';
                throw new Fault('parameter', 'the extension weighbridge has no bare DEFLATE; it has zlib and gzip', $remedy);
            }
            return $container === 'zlib' ? 'deflate' : $container;
        }),
    ),
);
