<?php

declare(strict_types=1);

namespace Weighbridge\Library\Settings;

use Weighbridge\Library\Codec;

/** @internal How cached values are stored. */
final class Values
{
    /** The codec: `deflate`, `gzip`, `zstd`, `br` or `identity`. */
    public string $codec;

    /** Whether the codec is the default, which every server API of this PHP reads without FFI. */
    public bool $isDefault;

    /** The codec's level. */
    public int $level;

    /** The smallest value in bytes, serialized. */
    public int $minBytes;

    /** `serialize` or `igbinary`. */
    public string $serializer;

    /** @var list<string> files of trained zstd dictionaries: the first encodes small values, each decodes its own */
    public array $dictionaries;

    /** Reads the section `value`. */
    public function __construct(Shape $shape)
    {
        $this->dictionaries = $shape->texts('dictionary');
        $default = extension_loaded('zlib') ? 'deflate' : 'identity';
        $this->isDefault = !$shape->has('codec') && $this->dictionaries === [];
        $default = $this->dictionaries === [] ? $default : 'zstd';
        $this->codec = $shape->word('codec', $default, ['deflate', 'gzip', 'zstd', 'br', 'identity']);
        [$least, $most, $default] = Codec::levels($this->codec);
        $this->level = $shape->integer('level', $default, $least, $most);
        $this->minBytes = $shape->integer('min_bytes', 1024, 0, PHP_INT_MAX);
        $this->serializer = $shape->word('serializer', 'serialize', ['serialize', 'igbinary']);
        $shape->close();
        if ($this->dictionaries !== [] && $this->codec !== 'zstd') {
            throw new InvalidSettings($shape->path('dictionary') . " is for zstd, and the codec is {$this->codec}");
        }
    }
}
