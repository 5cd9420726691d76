<?php

declare(strict_types=1);

namespace Weighbridge\Library\Psr16;

use Psr\SimpleCache\CacheInterface;
use Weighbridge\Library\Envelope;

/**
 * A cache of PSR-16 whose values are stored encoded in another one. It needs PHP 8.
 *
 * A value that the other cache had before is given as it is; one that cannot be read is a miss.
 */
final class EncodedCache implements CacheInterface
{
    private CacheInterface $inner;

    private Envelope $envelope;

    public function __construct(CacheInterface $inner, ?Envelope $envelope = null)
    {
        [$this->inner, $this->envelope] = [$inner, $envelope ?? new Envelope()];
    }

    public function get($key, $default = null): mixed
    {
        return $this->envelope->openStored($this->inner->get($key, $default), $default);
    }

    public function set($key, $value, $ttl = null): bool
    {
        return $this->inner->set($key, $this->envelope->sealValue($value), $ttl);
    }

    public function delete($key): bool
    {
        return $this->inner->delete($key);
    }

    public function clear(): bool
    {
        return $this->inner->clear();
    }

    /** @return iterable<string, mixed> */
    public function getMultiple($keys, $default = null): iterable
    {
        $values = [];
        foreach ($this->inner->getMultiple($keys, $default) as $key => $stored) {
            $values[$key] = $this->envelope->openStored($stored, $default);
        }
        return $values;
    }

    public function setMultiple($values, $ttl = null): bool
    {
        $values = is_array($values) ? $values : iterator_to_array($values);
        return $this->inner->setMultiple(array_map([$this->envelope, 'sealValue'], $values), $ttl);
    }

    public function deleteMultiple($keys): bool
    {
        return $this->inner->deleteMultiple($keys);
    }

    public function has($key): bool
    {
        return $this->inner->has($key);
    }
}
