<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Stream;

/** The extension brotli. */
final class BrotliExtension implements Binding
{
    /** Encoded bytes that are decoded at once, so that a small input cannot decode to more than is bounded. */
    private const PIECE = 1024;

    public function name(): string
    {
        return 'brotli extension';
    }

    public function encodesAs(string $encoder): bool
    {
        return $encoder === 'brotli';
    }

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
        $context = brotli_uncompress_init();
        $decoded = '';
        for ($from = 0; $context !== false && $from < strlen($data); $from += self::PIECE) {
            $isLast = $from + self::PIECE >= strlen($data);
            $mode = $isLast ? BROTLI_FINISH : BROTLI_PROCESS;
            $piece = brotli_uncompress_add($context, substr($data, $from, self::PIECE), $mode);
            if ($piece === false || strlen($decoded) + strlen($piece) > $maxBytes) {
                break;
            }
            $decoded .= $piece;
            if ($isLast) {
                return $decoded;
            }
        }
        throw new CodecFailure("br: the content is corrupt, cut short, or larger than $maxBytes bytes");
    }

    public function stream(string $coding, int $level): Stream
    {
        $context = brotli_compress_init($level);
        if ($context === false) {
            throw new CodecFailure('br: brotli_compress_init() failed');
        }
        return new Pieces(static function (string $data, int $operation) use ($context) {
            $modes = [BROTLI_PROCESS, BROTLI_FLUSH, BROTLI_FINISH];
            return brotli_compress_add($context, $data, $modes[$operation]);
        });
    }
}
