<?php

declare(strict_types=1);

namespace Weighbridge\Library\Settings;

use Weighbridge\Library\Codec;

/** @internal One content coding: with which encoder and level, from which size, for which media types. */
final class Rule
{
    /** The smallest page that is encoded, where no rule says otherwise. */
    public const MIN_BYTES = 860;

    /** Content that is text, or shrinks like text. */
    private const SHRINKING = '~^(?:text/.+|[a-z]+/[^/]+\+(?:json|xml|yaml)'
        . '|application/(?:json|(?:x-)?javascript|ecmascript|xml|graphql|wasm|(?:x-)?yaml|toml|sql|rtf|postscript'
        . '|vnd\.ms-fontobject|x-font-ttf)'
        . '|image/(?:bmp|x-icon|vnd\.microsoft\.icon)|font/(?:ttf|otf|collection))$~D';

    /** The content coding: `br`, `gzip`, `zstd`, `deflate`. */
    public string $coding;

    /** The encoder that is preferred among those of the coding: `libdeflate`. */
    public string $codec;

    /** The encoder's level. */
    public int $level;

    /** The smallest page in bytes, unencoded. */
    public int $minBytes;

    /** @var list<string> media types that it holds for, in small letters, `text/*` too; none: every type that shrinks */
    public array $types;

    /** @param list<string> $types */
    public function __construct(string $coding, string $codec, int $level, int $minBytes, array $types)
    {
        $this->coding = $coding;
        $this->codec = $codec;
        $this->level = $level;
        $this->minBytes = $minBytes;
        $this->types = $types;
    }

    /** Reads one of `page.rules`. */
    public static function read(Shape $shape): self
    {
        $coding = $shape->word('coding', '', ['gzip', 'deflate', 'br', 'zstd']);
        [$least, $most, $default] = Codec::levels($coding);
        $rule = new self(
            $coding,
            $shape->word('codec', $coding, Codec::names($coding)),
            $shape->integer('level', $default, $least, $most),
            $shape->integer('min_bytes', self::MIN_BYTES, 0, PHP_INT_MAX),
            array_map('strtolower', $shape->texts('types'))
        );
        $shape->close();
        return $rule;
    }

    /** Whether it is for pages of this media type, in small letters and without parameters. */
    public function isFor(string $type): bool
    {
        if ($this->types === []) {
            return preg_match(self::SHRINKING, $type) === 1;
        }
        $kind = explode('/', $type, 2)[0];
        return array_intersect([$type, "$kind/*", '*/*'], $this->types) !== [];
    }
}
