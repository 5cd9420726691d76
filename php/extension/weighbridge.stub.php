<?php

/**
 * What the extension has, for editors and static analysis.
 *
 * Codings are gzip, deflate (or zlib, another name for it), br and zstd. Levels are 0 to 12 for gzip and deflate, 0 to 11 for br, -7 to 19 for zstd;
 * without one it is 6, or 5 for br. A dictionary is possible for zstd: raw, or trained by `zstd --train`.
 */

/**
 * The data in a coding.
 *
 * @throws ValueError for an unknown coding, a level that it has not, a dictionary that it does not take
 */
function weighbridge_encode(string $data, string $coding, ?int $level = null, ?string $dictionary = null): string
{
}

/**
 * What the data decodes to.
 *
 * @throws ValueError for an unknown coding, a dictionary that it does not take, a negative number of bytes
 * @throws RuntimeException if the data is damaged, cut short or followed by more, or decodes to more than $max_bytes bytes
 */
function weighbridge_decode(string $data, string $coding, int $max_bytes, ?string $dictionary = null): string
{
}

/** The name of the output handler, for php.ini and `ob_start()`. Called as a function it answers false: it changes nothing. */
function weighbridge_output_handler(string $buffer, int $flags): bool
{
}

/** An encoder of one stream. It can be neither copied nor stored. After an error it is finished. */
final class WeighbridgeEncoder
{
    /** @throws ValueError as weighbridge_encode() */
    public function __construct(string $coding, ?int $level = null, ?string $dictionary = null)
    {
    }

    /** Takes data; what is ready of the stream, often nothing. @throws LogicException if it is finished */
    public function add(string $data): string
    {
    }

    /** The rest of what was added, so that the client can decode all of it. @throws LogicException if it is finished */
    public function flush(): string
    {
    }

    /** The end of the stream. @throws LogicException if it is finished */
    public function finish(): string
    {
    }
}
