<?php

declare(strict_types=1);

namespace Weighbridge\Library;

/** An encoder that is given content in pieces. */
interface Stream
{
    /** Takes more content; what it gives may be sent at once, and is empty more often than not. */
    public function add(string $data): string;

    /** What it takes for a client to decode everything that was added so far. */
    public function flush(): string;

    /** The end; the stream is not used again. */
    public function finish(): string;
}
