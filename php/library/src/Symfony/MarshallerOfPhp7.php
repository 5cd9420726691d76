<?php

declare(strict_types=1);

namespace Weighbridge\Library\Symfony;

use Symfony\Component\Cache\Marshaller\MarshallerInterface;

/** The same for PHP 7.4, with which Symfony 5.4 is the newest. */
final class MarshallerOfPhp7 implements MarshallerInterface
{
    use Marshalling;

    /** @return mixed */
    public function unmarshall(string $value)
    {
        return $this->read($value);
    }
}
