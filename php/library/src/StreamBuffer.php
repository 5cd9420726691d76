<?php

declare(strict_types=1);

namespace Weighbridge\Library;

/** An output handler for a page that is sent in pieces: what the script flushes is flushed by the encoder, too. */
final class StreamBuffer
{
    private Stream $stream;

    public function __construct(Stream $stream)
    {
        $this->stream = $stream;
    }

    /** What PHP calls with the content of the buffer. */
    public function __invoke(string $content, int $phase): string
    {
        if (($phase & PHP_OUTPUT_HANDLER_CLEAN) !== 0) {
            return '';
        }
        $encoded = $content === '' ? '' : $this->stream->add($content);
        if (($phase & PHP_OUTPUT_HANDLER_FINAL) !== 0) {
            return $encoded . $this->stream->finish();
        }
        return ($phase & PHP_OUTPUT_HANDLER_FLUSH) !== 0 ? $encoded . $this->stream->flush() : $encoded;
    }
}
