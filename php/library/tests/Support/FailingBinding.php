<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests\Support;

use Weighbridge\Library\Binding\Binding;
use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Stream;

/** A codec that seems to be there, and fails whenever it is used. */
final class FailingBinding implements Binding
{
    public function name(string $coding, int $what): ?string
    {
        return 'failing';
    }

    public function encode(string $data, string $coding, int $level, ?string $dictionary): string
    {
        throw new CodecFailure('it fails');
    }

    public function decode(string $data, string $coding, int $maxBytes, ?string $dictionary): string
    {
        throw new CodecFailure('it fails');
    }

    public function stream(string $coding, int $level): Stream
    {
        return new Stream(static function (): bool {
            return false;
        });
    }
}
