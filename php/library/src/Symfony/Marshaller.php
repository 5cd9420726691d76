<?php

declare(strict_types=1);

namespace Weighbridge\Library\Symfony;

use Symfony\Component\Cache\Marshaller\MarshallerInterface;

/** Stores cached values of Symfony as the policy says; known as `Weighbridge\Library\Marshaller`. */
final class Marshaller implements MarshallerInterface
{
    use Marshalling;

    public function unmarshall(string $value): mixed
    {
        return $this->read($value);
    }
}
