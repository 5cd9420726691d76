<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use Weighbridge\Library\Stream;

/** @internal The extensions zlib, brotli and zstd. */
final class Extensions implements Binding
{
    /** By coding: the extension, and the function that it takes for each operation. */
    private const FUNCTIONS = [
        'gzip' => ['zlib', 'deflate_init', 'inflate_init', 'deflate_init', ''],
        'deflate' => ['zlib', 'deflate_init', 'inflate_init', 'deflate_init', ''],
        'br' => ['brotli', 'brotli_compress', 'brotli_uncompress_init', 'brotli_compress_init', ''],
        'zstd' => ['zstd', 'zstd_compress', 'zstd_uncompress', 'zstd_compress_init', 'zstd_compress_dict'],
    ];
    /** Encoded bytes that are decoded at once: a small input cannot become much more than is bounded. */
    private const PIECE = 1024;
    /** Bytes that are gathered where each call flushes. */
    private const GATHERED = 1 << 17;

    public function name(string $coding, int $what): ?string
    {
        [$name, $functions] = [self::FUNCTIONS[$coding][0] ?? '', array_slice(self::FUNCTIONS[$coding] ?? [''], 1)];
        foreach ($functions as $at => $function) {
            if (($what & 1 << $at) !== 0 && !function_exists($function)) {
                return null;
            }
        }
        return $name === '' ? null : "$name extension";
    }

    public function encode(string $data, string $coding, int $level, ?string $dictionary)
    {
        if ($coding === 'br') {
            return brotli_compress($data, $level);
        }
        if ($coding === 'zstd') {
            return $dictionary === null ? zstd_compress($data, $level) : zstd_compress_dict($data, $dictionary, $level);
        }
        // In less time than zlib_encode() takes for the same.
        return deflate_add(deflate_init(self::format($coding), ['level' => min($level, 9)]), $data, ZLIB_FINISH);
    }

    public function decode(string $data, string $coding, int $maxBytes, ?string $dictionary)
    {
        if ($coding === 'zstd') {
            // The extension allocates what the frame states.
            if (self::statedSize($data) > $maxBytes) {
                return false;
            }
            return $dictionary === null ? zstd_uncompress($data) : zstd_uncompress_dict($data, $dictionary);
        }
        if ($coding === 'br') {
            // In pieces it is bounded, and at once it is known to be whole: each lacks what the other has.
            $context = brotli_uncompress_init();
            $decoded = self::inPieces($context, 'brotli_uncompress_add', BROTLI_PROCESS, $data, 0, $maxBytes);
            return $decoded === null ? false : brotli_uncompress($data);
        }
        $decoded = '';
        // gzip may be several members, one after the other (RFC 1952, section 2.2).
        for ($begin = 0; $begin < strlen($data) && ($coding === 'gzip' || $begin === 0); $begin += $length) {
            $context = inflate_init(self::format($coding));
            $piece = self::inPieces($context, 'inflate_add', ZLIB_SYNC_FLUSH, $data, $begin, $maxBytes - strlen($decoded));
            $length = inflate_get_read_len($context);
            if ($piece === null || inflate_get_status($context) !== ZLIB_STREAM_END) {
                return false;
            }
            $decoded .= $piece;
        }
        return $begin > 0 && $begin === strlen($data) ? $decoded : false;
    }

    public function stream(string $coding, int $level): Stream
    {
        $held = '';
        if ($coding === 'zstd') {
            $context = zstd_compress_init($level);
            return new Stream(static function (string $data, int $operation) use ($context, &$held) {
                $held .= $data;
                if ($operation === Stream::ADD && strlen($held) < self::GATHERED) {
                    return '';
                }
                [$gathered, $held] = [$held, ''];
                return zstd_compress_add($context, $gathered, $operation === Stream::FINISH);
            });
        }
        if ($coding === 'br') {
            [$context, $add] = [brotli_compress_init($level), 'brotli_compress_add'];
            $modes = [BROTLI_PROCESS, BROTLI_FLUSH, BROTLI_FINISH];
        } else {
            [$context, $add] = [deflate_init(self::format($coding), ['level' => min($level, 9)]), 'deflate_add'];
            $modes = [ZLIB_NO_FLUSH, ZLIB_SYNC_FLUSH, ZLIB_FINISH];
        }
        // Nothing is flushed by a call that is given nothing, so that the last piece is held back for it.
        return new Stream(static function (string $data, int $operation) use ($context, $add, $modes, &$held) {
            $encoded = $add($context, $held, $modes[$operation]);
            $held = $data;
            return $encoded;
        });
    }

    private static function format(string $coding): int
    {
        return $coding === 'gzip' ? ZLIB_ENCODING_GZIP : ZLIB_ENCODING_DEFLATE;
    }

    /**
     * What the data decodes to from an offset on, up to its end or that of the stream; null: more than that, or corrupt.
     *
     * @param mixed $context
     */
    private static function inPieces($context, string $add, int $mode, string $data, int $from, int $maxBytes): ?string
    {
        for ($decoded = ''; $from < strlen($data); $from += self::PIECE) {
            $piece = $add($context, substr($data, $from, self::PIECE), $mode);
            if ($piece === false || strlen($decoded) + strlen($piece) > $maxBytes) {
                return null;
            }
            $decoded .= $piece;
            if ($add === 'inflate_add' && inflate_get_status($context) === ZLIB_STREAM_END) {
                break;
            }
        }
        return $decoded;
    }

    /** How many bytes a frame of zstd says that it decodes to (RFC 8878, section 3.1.1.1); the most there are: it does not. */
    private static function statedSize(string $frame): int
    {
        $descriptor = ord($frame[4] ?? "\0");
        $isSingle = ($descriptor >> 5) & 1;
        $width = [$isSingle, 2, 4, 8][$descriptor >> 6];
        $field = substr($frame, 6 - $isSingle + [0, 1, 2, 4][$descriptor & 3], $width);
        if (strncmp($frame, "\x28\xb5\x2f\xfd", 4) !== 0 || $width === 0 || strlen((string) $field) < $width) {
            return PHP_INT_MAX;
        }
        $size = (unpack('P', str_pad($field, 8, "\0")) ?: [1 => -1])[1] + ($width === 2 ? 256 : 0);
        return $size < 0 ? PHP_INT_MAX : $size;
    }
}
