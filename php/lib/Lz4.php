<?php
namespace Weighbridge;

/** What the codecs lz4 and lz4hc share: blocks by the lz4 extension, else by liblz4 through FFI. */
final class Lz4
{
    const SONAME = 'liblz4.so.1';
    const HEADER = '
        const char *LZ4_versionString(void);
        int LZ4_compressBound(int size);
        int LZ4_compress_default(const char *from, char *to, int size, int room);
        int LZ4_compress_HC(const char *from, char *to, int size, int room, int level);
        int LZ4_decompress_safe(const char *from, char *to, int size, int room);
    ';

    /**
     * @param \Closure $encoder gets the library, a Buffer and the level; gives the closure that encodes through FFI
     * @return array the bindings of a codec
     */
    public static function bindings(\Closure $encoder)
    {
        return array(
            // It puts four bytes with the length before the block, which no other decoder knows.
            'extension' => array(
                'format' => 'php-lz4',
                'missing' => function () {
                    return Extension::missing('lz4', 'lz4_compress');
                },
                'library' => function () {
                    return Extension::library('lz4', 'lz4', array('LZ4 Version'));
                },
                'coder' => function (Params $params) {
                    $level = $params->level === null ? array() : array($params->level);
                    return new Coder(array_merge(array('lz4_compress'), $level), array('lz4_uncompress'));
                },
            ),
            'ffi' => array(
                'missing' => function () {
                    return Library::missing(Lz4::SONAME, 'liblz4-1', Lz4::HEADER);
                },
                'library' => function () {
                    return 'lz4 ' . Library::open(Lz4::SONAME, Lz4::HEADER)->LZ4_versionString();
                },
                'coder' => function (Params $params) use ($encoder) {
                    $ffi = Library::open(Lz4::SONAME, Lz4::HEADER);
                    $buffer = new Buffer($ffi);
                    return new Coder($encoder($ffi, $buffer, $params->level), Lz4::decoder($ffi, $buffer));
                },
            ),
        );
    }

    /** @return \Closure the one that decodes through FFI */
    public static function decoder($ffi, Buffer $buffer)
    {
        return function ($encoded, $expected) use ($ffi, $buffer) {
            $buffer->hold($expected);
            $length = $ffi->LZ4_decompress_safe($encoded, $buffer->bytes, strlen($encoded), $expected);
            if ($length < 0) {
                throw new Fault('codec', "LZ4_decompress_safe returned $length");
            }
            return \FFI::string($buffer->bytes, $length);
        };
    }
}
