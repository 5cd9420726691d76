<?php

declare(strict_types=1);

namespace Weighbridge\Library;

use Closure;

/** An encoder that is given content in pieces: one call of an extension or a library takes some, and what to do after it. */
final class Stream
{
    /** Takes content and keeps what it likes. */
    public const ADD = 0;
    /** Gives everything out that was taken. */
    public const FLUSH = 1;
    /** Ends the stream. */
    public const FINISH = 2;

    /** @var (Closure(string, int): mixed)|null null: it was ended */
    private ?Closure $step;

    /** @param Closure(string, int): mixed $step content and one of the constants, to encoded bytes or false */
    public function __construct(Closure $step)
    {
        $this->step = $step;
    }

    /** Takes more content; what it gives may be sent at once, and is empty more often than not. */
    public function add(string $data): string
    {
        return $this->step($data, self::ADD);
    }

    /** What it takes for a client to decode everything that was added so far. */
    public function flush(): string
    {
        return $this->step('', self::FLUSH);
    }

    /** The end; the stream is not used again. */
    public function finish(): string
    {
        return $this->step('', self::FINISH);
    }

    private function step(string $data, int $operation): string
    {
        $encoded = $this->step === null ? '' : ($this->step)($data, $operation);
        $this->step = $operation === self::FINISH ? null : $this->step;
        if (!is_string($encoded)) {
            throw new CodecFailure('the stream could not be continued');
        }
        return $encoded;
    }
}
