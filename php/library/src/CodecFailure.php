<?php

declare(strict_types=1);

namespace Weighbridge\Library;

use RuntimeException;

/** Content that could not be encoded or decoded; the message is one line that says why. */
final class CodecFailure extends RuntimeException implements WeighbridgeException
{
}
