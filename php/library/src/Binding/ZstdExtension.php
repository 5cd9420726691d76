<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Stream;

/** @internal The extension zstd. */
final class ZstdExtension implements Binding
{
    public function can(string $coding, int $what): bool
    {
        return $coding === 'zstd'
            && function_exists('zstd_compress')
            && (($what & self::STREAM) === 0 || function_exists('zstd_compress_init'))
            && (($what & self::DICTIONARY) === 0 || function_exists('zstd_compress_dict'));
    }

    public function encode(string $data, string $coding, int $level, ?string $dictionary): string
    {
        $encoded = $dictionary === null
            ? zstd_compress($data, $level)
            : zstd_compress_dict($data, $dictionary, $level);
        if (!is_string($encoded)) {
            throw new CodecFailure('zstd: zstd_compress() failed');
        }
        return $encoded;
    }

    public function decode(string $data, string $coding, int $maxBytes, ?string $dictionary): string
    {
        // The extension allocates what the frame states, and would without a bound where it states nothing.
        $size = ZstdFrame::contentSize($data);
        if ($size === null || $size > $maxBytes) {
            throw new CodecFailure(
                $size === null ? 'zstd: the frame does not state its size' : "zstd: $size bytes, more than $maxBytes"
            );
        }
        $decoded = $dictionary === null ? zstd_uncompress($data) : zstd_uncompress_dict($data, $dictionary);
        if (!is_string($decoded)) {
            throw new CodecFailure('zstd: the content is corrupt or cut short');
        }
        return $decoded;
    }

    public function stream(string $coding, int $level): Stream
    {
        $context = zstd_compress_init($level);
        if ($context === false) {
            throw new CodecFailure('zstd: zstd_compress_init() failed');
        }
        // Each call of the extension flushes, which costs bytes: content is gathered until that is asked for.
        $gathered = '';
        return new Stream(static function (string $data, int $operation) use ($context, &$gathered) {
            $gathered .= $data;
            if ($operation === Stream::ADD && strlen($gathered) < 1 << 17) {
                return '';
            }
            $encoded = zstd_compress_add($context, $gathered, $operation === Stream::FINISH);
            $gathered = '';
            return $encoded;
        });
    }
}
