<?php

declare(strict_types=1);

namespace Weighbridge\Library;

use RuntimeException;

/** A download that cannot be sent as the code asks for it; the message is one line that says why. */
final class DownloadFailure extends RuntimeException implements WeighbridgeException
{
}
