<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Stream;

/** @internal The extension brotli. */
final class BrotliExtension implements Binding
{
    /** Encoded bytes that are decoded at once, so that a small input cannot decode to more than is bounded. */
    private const PIECE = 1024;

    public function can(string $coding, int $what): bool
    {
        return $coding === 'br'
            && ($what & self::DICTIONARY) === 0
            && function_exists('brotli_compress')
            && (($what & self::STREAM) === 0 || function_exists('brotli_compress_init'))
            && (($what & self::DECODE) === 0 || function_exists('brotli_uncompress_init'));
    }

    public function encode(string $data, string $coding, int $level, ?string $dictionary): string
    {
        $encoded = brotli_compress($data, $level);
        if ($encoded === false) {
            throw new CodecFailure('br: brotli_compress() failed');
        }
        return $encoded;
    }

    public function decode(string $data, string $coding, int $maxBytes, ?string $dictionary): string
    {
        // In pieces it is bounded, and at once it is known to be whole: each lacks what the other has.
        $context = brotli_uncompress_init();
        $size = 0;
        for ($from = 0; $context !== false && $size <= $maxBytes && $from < strlen($data); $from += self::PIECE) {
            $piece = brotli_uncompress_add($context, substr($data, $from, self::PIECE), BROTLI_PROCESS);
            $size = $piece === false ? PHP_INT_MAX : $size + strlen($piece);
        }
        $decoded = $size > $maxBytes ? false : brotli_uncompress($data);
        if (is_string($decoded)) {
            return $decoded;
        }
        throw new CodecFailure("br: the content is corrupt, cut short, or larger than $maxBytes bytes");
    }

    public function stream(string $coding, int $level): Stream
    {
        $context = brotli_compress_init($level);
        if ($context === false) {
            throw new CodecFailure('br: brotli_compress_init() failed');
        }
        // It flushes nothing when it is given nothing, so that the last piece is held back for it.
        $held = '';
        return new Stream(static function (string $data, int $operation) use ($context, &$held) {
            $modes = [BROTLI_PROCESS, BROTLI_FLUSH, BROTLI_FINISH];
            $encoded = brotli_compress_add($context, $held, $modes[$operation]);
            $held = $data;
            return $encoded;
        });
    }
}
