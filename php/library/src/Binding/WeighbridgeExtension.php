<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use Weighbridge\Library\Stream;
use WeighbridgeEncoder;

/** @internal The extension `weighbridge`: libdeflate for whole pages, and streams, Brotli and zstd with dictionaries. */
final class WeighbridgeExtension implements Binding
{
    public function name(string $coding, int $what): ?string
    {
        $isKnown = function_exists('weighbridge_encode') && in_array($coding, ['gzip', 'deflate', 'br', 'zstd'], true);
        return $isKnown && (($what & self::DICTIONARY) === 0 || $coding === 'zstd') ? 'weighbridge extension' : null;
    }

    public function encode(string $data, string $coding, int $level, ?string $dictionary)
    {
        return weighbridge_encode($data, $coding, $level, $dictionary);
    }

    public function decode(string $data, string $coding, int $maxBytes, ?string $dictionary)
    {
        return weighbridge_decode($data, $coding, $maxBytes, $dictionary);
    }

    public function stream(string $coding, int $level): Stream
    {
        $encoder = new WeighbridgeEncoder($coding, $level);
        return new Stream(static function (string $data, int $operation) use ($encoder): string {
            return $operation === Stream::ADD ? $encoder->add($data) : $encoder->{['', 'flush', 'finish'][$operation]}();
        });
    }
}
