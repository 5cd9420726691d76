<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests\Support;

use Weighbridge\Library\Binding\Binding;
use Weighbridge\Library\Binding\Extensions;
use Weighbridge\Library\Stream;

/** The extension zlib alone, whatever else this PHP has. */
final class Zlib implements Binding
{
    private Extensions $inner;

    public function __construct()
    {
        $this->inner = new Extensions();
    }

    public function name(string $coding, int $what): ?string
    {
        return in_array($coding, ['gzip', 'deflate'], true) ? $this->inner->name($coding, $what) : null;
    }

    public function encode(string $data, string $coding, int $level, ?string $dictionary)
    {
        return $this->inner->encode($data, $coding, $level, $dictionary);
    }

    public function decode(string $data, string $coding, int $maxBytes, ?string $dictionary)
    {
        return $this->inner->decode($data, $coding, $maxBytes, $dictionary);
    }

    public function stream(string $coding, int $level): Stream
    {
        return $this->inner->stream($coding, $level);
    }
}
