<?php

declare(strict_types=1);

namespace Weighbridge\Library\Settings;

use Weighbridge\Library\Codec;

/** One content coding: with which encoder and level, from which size, for which media types. */
final class Rule
{
    /** The content coding: `br`, `gzip`, `zstd`, `deflate`. */
    public string $coding;

    /** The encoder that is preferred among those of the coding: `libdeflate`. */
    public string $codec;

    /** The encoder's level. */
    public int $level;

    /** The smallest page in bytes, unencoded. */
    public int $minBytes;

    /** @var list<string> media types that it holds for; none: every type that shrinks */
    public array $types;

    /** Reads one of `page.rules`. */
    public function __construct(Shape $shape)
    {
        $this->coding = $shape->word('coding', '', ['gzip', 'deflate', 'br', 'zstd']);
        $this->codec = $shape->word('codec', $this->coding, Codec::names($this->coding));
        [$least, $most, $default] = Codec::levels($this->coding);
        $this->level = $shape->integer('level', $default, $least, $most);
        $this->minBytes = $shape->integer('min_bytes', 860, 0, PHP_INT_MAX);
        $this->types = array_map('strtolower', $shape->texts('types'));
        $shape->close();
    }

    /** Whether it is for pages of this media type, in small letters and without parameters. */
    public function isFor(string $type): bool
    {
        return $this->types === [] ? self::shrinks($type) : in_array($type, $this->types, true);
    }

    /** Whether content of the type is text that is not encoded already. An event stream is text, but each event is small. */
    private static function shrinks(string $type): bool
    {
        $others = '~^(?:application/(?:json|javascript|x-javascript|xml|wasm|vnd\.ms-fontobject|x-ndjson|graphql)'
            . '|application/[a-z0-9.+-]+\+(?:json|xml)|image/svg\+xml|image/bmp|image/x-icon|font/(?:ttf|otf))$~';
        return $type !== 'text/event-stream' && (strncmp($type, 'text/', 5) === 0 || preg_match($others, $type) === 1);
    }
}
