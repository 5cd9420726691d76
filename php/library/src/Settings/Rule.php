<?php

declare(strict_types=1);

namespace Weighbridge\Library\Settings;

use Weighbridge\Library\Codec;

/** @internal One content coding: with which encoder and level, from which size, for which media types. */
final class Rule
{
    /** Content that is text, or shrinks like text. */
    private const SHRINKING = '~^(?:text/.+|[a-z]+/[^/]+\+(?:json|xml|yaml)'
        . '|application/(?:json|(?:x-)?javascript|ecmascript|xml|graphql|wasm|(?:x-)?yaml|toml|sql|rtf|postscript'
        . '|vnd\.ms-fontobject|x-font-ttf)'
        . '|image/(?:bmp|x-icon|vnd\.microsoft\.icon)|font/(?:ttf|otf|collection))$~D';

    /** The content coding: `br`, `gzip`, `zstd`, `deflate`. */
    public string $coding;

    /** The encoder that is preferred among those of the coding: `libdeflate`. */
    public string $codec;

    public int $level;

    /** The smallest page in bytes, unencoded. */
    public int $minBytes;

    /** @var list<string> media types that it holds for, in small letters, `text/*` too; none: every type that shrinks */
    public array $types;

    /** @param list<string> $types */
    public function __construct(string $coding, string $codec, int $level, int $minBytes = 860, array $types = [])
    {
        [$this->coding, $this->codec, $this->level] = [$coding, $codec, $level];
        [$this->minBytes, $this->types] = [$minBytes, $types];
    }

    /** @return list<self> those that no settings replace: levels that send no more bytes than gzip 6, on ten pages (README.md) */
    public static function defaults(): array
    {
        return [new self('zstd', 'zstd', 6), new self('br', 'br', 5), new self('gzip', 'libdeflate', 6)];
    }

    /** Reads one of `page.rules`. */
    public static function read(Shape $shape): self
    {
        $coding = $shape->word('coding', '', ['gzip', 'deflate', 'br', 'zstd']);
        [$default, $least, $most, $names] = Codec::CODINGS[$coding];
        $codec = $shape->word('codec', $coding, $names);
        $level = $shape->integer('level', $default, $least, $most);
        $minBytes = $shape->integer('min_bytes', 860);
        $types = array_map('strtolower', $shape->texts('types'));
        $shape->close();
        return new self($coding, $codec, $level, $minBytes, $types);
    }

    /** Whether it is for pages of this media type, in small letters and without parameters. */
    public function isFor(string $type): bool
    {
        $named = array_intersect([$type, explode('/', $type, 2)[0] . '/*', '*/*'], $this->types) !== [];
        return $this->types === [] ? preg_match(self::SHRINKING, $type) === 1 : $named;
    }
}
