<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use Weighbridge\Library\Stream;
use WeighbridgeEncoder;

/** @internal The extension `weighbridge`: libdeflate for whole pages, and streams, Brotli and zstd with dictionaries. */
final class WeighbridgeExtension implements Binding
{
    public function can(string $coding, int $what): bool
    {
        return in_array($coding, ['gzip', 'deflate', 'br', 'zstd'], true)
            && function_exists('weighbridge_encode')
            && (($what & self::STREAM) === 0 || class_exists(WeighbridgeEncoder::class, false))
            && (($what & self::DICTIONARY) === 0 || $coding === 'zstd');
    }

    public function encode(string $data, string $coding, int $level, ?string $dictionary): string
    {
        return weighbridge_encode($data, $coding, $level, $dictionary);
    }

    public function decode(string $data, string $coding, int $maxBytes, ?string $dictionary): string
    {
        return weighbridge_decode($data, $coding, $maxBytes, $dictionary);
    }

    public function stream(string $coding, int $level): Stream
    {
        $encoder = new WeighbridgeEncoder($coding, $level);
        return new Stream(static function (string $data, int $operation) use ($encoder): string {
            if ($operation === Stream::ADD) {
                return $encoder->add($data);
            }
            return $operation === Stream::FLUSH ? $encoder->flush() : $encoder->finish();
        });
    }
}
