<?php

declare(strict_types=1);

namespace Weighbridge\Library;

use Throwable;

/** Every exception of this library. */
interface WeighbridgeException extends Throwable
{
}
