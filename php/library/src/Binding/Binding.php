<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Stream;

/** @internal One way in which PHP reaches codecs: an extension, or a library through FFI. */
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

    /** Whether this PHP can do all of this with the coding: a sum of the constants above. */
    public function can(string $coding, int $what): bool;

    /** @throws CodecFailure */
    public function encode(string $data, string $coding, int $level, ?string $dictionary): string;

    /**
     * Decodes without allocating much more than `$maxBytes`.
     *
     * @throws CodecFailure
     */
    public function decode(string $data, string $coding, int $maxBytes, ?string $dictionary): string;

    /** @throws CodecFailure */
    public function stream(string $coding, int $level): Stream;
}
