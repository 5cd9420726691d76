<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use Weighbridge\Library\Stream;

/**
 * @internal One way in which PHP reaches codecs: an extension, or a library through FFI. Where it throws, or gives false,
 * `Codec` throws a `CodecFailure`.
 */
interface Binding
{
    /** Encodes a whole string. */
    public const ENCODE = 1;
    /** Decodes a whole string. */
    public const DECODE = 2;
    /** Encodes in pieces. */
    public const STREAM = 4;
    /** Does what is asked beside it with a dictionary. */
    public const DICTIONARY = 8;

    /** What it is called where this PHP can do all of this with the coding, a sum of the constants above; null: it cannot. */
    public function name(string $coding, int $what): ?string;

    /** @return string|false */
    public function encode(string $data, string $coding, int $level, ?string $dictionary);

    /**
     * Decodes without allocating much more than `$maxBytes`.
     *
     * @return string|false
     */
    public function decode(string $data, string $coding, int $maxBytes, ?string $dictionary);

    public function stream(string $coding, int $level): Stream;
}
