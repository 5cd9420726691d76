<?php

declare(strict_types=1);

namespace Weighbridge\Library;

use Closure;

/** Calls a function when the last reference to it is gone, which is how an output handler learns that it was closed. */
final class Guard
{
    /** @var Closure(): void */
    private Closure $then;

    /** @param Closure(): void $then */
    public function __construct(Closure $then)
    {
        $this->then = $then;
    }

    public function __destruct()
    {
        ($this->then)();
    }
}
