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

    /** Reads one of `page.rules`. */
    public static function read(Shape $shape): self
    {
        $rule = new self();
        $rule->coding = $shape->word('coding', '', ['gzip', 'deflate', 'br', 'zstd']);
        $rule->codec = $shape->word('codec', $rule->coding, Codec::names($rule->coding));
        $rule->level = $shape->integer('level', ...Codec::levels($rule->coding));
        $rule->minBytes = $shape->integer('min_bytes', 860);
        $rule->types = array_map('strtolower', $shape->texts('types'));
        $shape->close();
        return $rule;
    }

    /** Whether it is for pages of this media type, in small letters and without parameters. */
    public function isFor(string $type): bool
    {
        $named = array_intersect([$type, explode('/', $type, 2)[0] . '/*', '*/*'], $this->types) !== [];
        return $this->types === [] ? preg_match(self::SHRINKING, $type) === 1 : $named;
    }
}
