<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Stream;

/** @internal PHP's own extension zlib. */
final class ZlibExtension implements Binding
{
    private const FORMATS = ['gzip' => ZLIB_ENCODING_GZIP, 'deflate' => ZLIB_ENCODING_DEFLATE];
    /** Encoded bytes that are decoded at once: they become a thousand times as many at most. */
    private const PIECE = 1024;

    public function can(string $coding, int $what): bool
    {
        return in_array($coding, ['gzip', 'deflate'], true)
            && ($what & self::DICTIONARY) === 0
            && function_exists('deflate_init');
    }

    public function encode(string $data, string $coding, int $level, ?string $dictionary): string
    {
        // In less time than zlib_encode() takes for the same.
        $context = deflate_init(self::FORMATS[$coding], ['level' => min($level, 9)]);
        $encoded = $context === false ? false : deflate_add($context, $data, ZLIB_FINISH);
        if ($encoded === false) {
            throw new CodecFailure("$coding: deflate_add() failed");
        }
        return $encoded;
    }

    public function decode(string $data, string $coding, int $maxBytes, ?string $dictionary): string
    {
        $decoded = '';
        // gzip may be several members, one after the other (RFC 1952, section 2.2).
        for ($begin = 0; ($context = inflate_init(self::FORMATS[$coding])) !== false; $begin += $length) {
            $isWhole = false;
            for ($from = $begin; !$isWhole && $from < strlen($data); $from += self::PIECE) {
                $piece = inflate_add($context, substr($data, $from, self::PIECE));
                if ($piece === false || strlen($decoded) + strlen($piece) > $maxBytes) {
                    break 2;
                }
                $decoded .= $piece;
                $isWhole = inflate_get_status($context) === ZLIB_STREAM_END;
            }
            $length = inflate_get_read_len($context);
            if (!$isWhole || ($begin + $length < strlen($data) && $coding !== 'gzip')) {
                break;
            }
            if ($begin + $length === strlen($data)) {
                return $decoded;
            }
        }
        throw new CodecFailure("$coding: the content is corrupt, cut short, or larger than $maxBytes bytes");
    }

    public function stream(string $coding, int $level): Stream
    {
        $context = deflate_init(self::FORMATS[$coding], ['level' => min($level, 9)]);
        if ($context === false) {
            throw new CodecFailure("$coding: deflate_init() failed");
        }
        // deflate_add() flushes nothing when it is given nothing, so that the last piece is held back for it.
        $held = '';
        return new Stream(static function (string $data, int $operation) use ($context, &$held) {
            $flushes = [ZLIB_NO_FLUSH, ZLIB_SYNC_FLUSH, ZLIB_FINISH];
            $encoded = deflate_add($context, $held, $flushes[$operation]);
            $held = $data;
            return $encoded;
        });
    }
}
