<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use Closure;
use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Stream;

/** A stream of an extension or a library, whose one call takes content and what to do after it. */
final class Pieces implements Stream
{
    /** Takes content and keeps what it likes. */
    public const ADD = 0;
    /** Gives everything out that was taken. */
    public const FLUSH = 1;
    /** Ends the stream. */
    public const FINISH = 2;

    /** @var Closure(string, int): mixed */
    private Closure $step;

    private bool $isFinished = false;

    /** @param Closure(string, int): mixed $step content and one of the constants, to encoded bytes or false */
    public function __construct(Closure $step)
    {
        $this->step = $step;
    }

    public function add(string $data): string
    {
        return $this->step($data, self::ADD);
    }

    public function flush(): string
    {
        return $this->step('', self::FLUSH);
    }

    public function finish(): string
    {
        return $this->step('', self::FINISH);
    }

    private function step(string $data, int $operation): string
    {
        if ($this->isFinished) {
            return '';
        }
        $this->isFinished = $operation === self::FINISH;
        $encoded = ($this->step)($data, $operation);
        if (!is_string($encoded)) {
            throw new CodecFailure('the stream could not be continued');
        }
        return $encoded;
    }
}
