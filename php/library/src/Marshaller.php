<?php

declare(strict_types=1);

namespace Weighbridge\Library;

use Symfony\Component\Cache\Marshaller\MarshallerInterface;
use Weighbridge\Library\Symfony\ValueMarshaller;

// Symfony 6 and newer ask for the return type `mixed`, which PHP 7 does not have. Without Symfony's cache there is none.
if (interface_exists(MarshallerInterface::class) && PHP_VERSION_ID >= 80000) {
    /**
     * Stores cached values of Symfony as the settings say. A value that begins with none of `Envelope`'s marks was stored
     * before, and is left to the marshaller inside. One that cannot be read is an exception, which Symfony's adapters log
     * and take for a miss.
     */
    final class Marshaller extends ValueMarshaller
    {
        public function unmarshall(string $value): mixed
        {
            return $this->read($value);
        }
    }
} elseif (interface_exists(MarshallerInterface::class)) {
    /** The same. */
    final class Marshaller extends ValueMarshaller
    {
        /** @return mixed */
        public function unmarshall(string $value)
        {
            return $this->read($value);
        }
    }
}
