<?php

declare(strict_types=1);

namespace Weighbridge\Library\Settings;

use Weighbridge\Library\Codec;

/** How cached values are stored. */
final class Values
{
    /** A value is written once and read many times: at this level it is smaller than by DEFLATE 6, at half of its time or less. */
    private const ZSTD = 6;

    /** The codec: `zstd`, `br`, `gzip`, `deflate` or `identity`. */
    public string $codec;

    /** The codec's level. */
    public int $level;

    /** The smallest value in bytes, serialized. */
    public int $minBytes;

    /** `igbinary` where it is loaded, or `serialize`. */
    public string $serializer;

    /** The file of a trained zstd dictionary for small values; null: none. */
    public ?string $dictionary;

    /** Reads the section `value`. */
    public function __construct(Shape $shape)
    {
        $this->codec = $shape->word('codec', 'zstd', ['zstd', 'br', 'gzip', 'deflate', 'identity']);
        [$least, $most, $default] = Codec::levels($this->codec);
        $this->level = $shape->integer('level', $this->codec === 'zstd' ? self::ZSTD : $default, $least, $most);
        $this->minBytes = $shape->integer('min_bytes', 1024, 0, PHP_INT_MAX);
        $this->serializer = $shape->word('serializer', 'igbinary', ['igbinary', 'serialize']);
        $this->dictionary = $shape->text('dictionary');
        $shape->close();
        if ($this->dictionary !== null && $this->codec !== 'zstd') {
            throw new Invalid($shape->path('dictionary') . " is for zstd, and the codec is {$this->codec}");
        }
    }
}
