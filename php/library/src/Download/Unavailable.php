<?php

declare(strict_types=1);

namespace Weighbridge\Library\Download;

use RuntimeException;

/** A path that leads to no file that may be sent. */
final class Unavailable extends RuntimeException
{
}
