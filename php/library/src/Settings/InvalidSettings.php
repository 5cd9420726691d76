<?php

declare(strict_types=1);

namespace Weighbridge\Library\Settings;

use InvalidArgumentException;
use Weighbridge\Library\WeighbridgeException;

/** Settings that cannot be used; the message is one line that says what and where. */
final class InvalidSettings extends InvalidArgumentException implements WeighbridgeException
{
}
