<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Stream;

/** PHP's own extension zlib. */
final class ZlibExtension implements Binding
{
    /** Encoded bytes that are decoded at once: they become a thousand times as many at most. */
    private const PIECE = 1024;

    public function name(): string
    {
        return 'zlib extension';
    }

    public function encodesAs(string $encoder): bool
    {
        return $encoder === 'zlib';
    }

    public function can(string $coding, int $what): bool
    {
        return in_array($coding, ['gzip', 'deflate', 'raw-deflate'], true)
            && ($what & self::DICTIONARY) === 0
            && function_exists('deflate_init');
    }

    public function encode(string $data, string $coding, int $level, ?string $dictionary): string
    {
        $encoded = zlib_encode($data, self::format($coding), min($level, 9));
        if ($encoded === false) {
            throw new CodecFailure("$coding: zlib_encode() failed");
        }
        return $encoded;
    }

    public function decode(string $data, string $coding, int $maxBytes, ?string $dictionary): string
    {
        if ($coding === 'raw-deflate') {
            return self::inflate($data, $maxBytes);
        }
        // Each takes a greatest length, which must be above that of the content.
        $decoded = $coding === 'gzip' ? gzdecode($data, $maxBytes + 1) : gzuncompress($data, $maxBytes + 1);
        if ($decoded === false) {
            throw new CodecFailure("$coding: the content is corrupt, cut short, or larger than $maxBytes bytes");
        }
        return $decoded;
    }

    /** DEFLATE alone has no checksum, and gzinflate() does not say that its end is missing. */
    private static function inflate(string $data, int $maxBytes): string
    {
        $context = inflate_init(ZLIB_ENCODING_RAW);
        $decoded = '';
        for ($from = 0; $context !== false && $from < strlen($data); $from += self::PIECE) {
            $piece = inflate_add($context, substr($data, $from, self::PIECE));
            if ($piece === false || strlen($decoded) + strlen($piece) > $maxBytes) {
                break;
            }
            $decoded .= $piece;
            if (inflate_get_status($context) === ZLIB_STREAM_END) {
                if (inflate_get_read_len($context) === strlen($data)) {
                    return $decoded;
                }
                break;
            }
        }
        throw new CodecFailure("raw-deflate: the content is corrupt, cut short, or larger than $maxBytes bytes");
    }

    public function stream(string $coding, int $level): Stream
    {
        $context = deflate_init(self::format($coding), ['level' => min($level, 9)]);
        if ($context === false) {
            throw new CodecFailure("$coding: deflate_init() failed");
        }
        // deflate_add() flushes nothing when it is given nothing, so that the last piece is held back for it.
        $held = '';
        return new Pieces(static function (string $data, int $operation) use ($context, &$held) {
            $flushes = [ZLIB_NO_FLUSH, ZLIB_SYNC_FLUSH, ZLIB_FINISH];
            $encoded = deflate_add($context, $held, $flushes[$operation]);
            $held = $data;
            return $encoded;
        });
    }

    private static function format(string $coding): int
    {
        return ['gzip' => ZLIB_ENCODING_GZIP, 'deflate' => ZLIB_ENCODING_DEFLATE][$coding] ?? ZLIB_ENCODING_RAW;
    }
}
