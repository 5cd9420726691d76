<?php

declare(strict_types=1);

namespace Weighbridge\Library\Laravel;

use Illuminate\Contracts\Cache\LockProvider;
use Illuminate\Contracts\Cache\Store;
use Weighbridge\Library\Envelope;

/**
 * A cache store of Laravel whose values are stored encoded in another one. Numbers are stored as they are, so that the
 * other store counts with them. A value that it had before is given as it is; one that cannot be read is a miss.
 */
final class EncodedStore implements Store, LockProvider
{
    private Store $inner;

    private Envelope $envelope;

    public function __construct(Store $inner, ?Envelope $envelope = null)
    {
        [$this->inner, $this->envelope] = [$inner, $envelope ?? new Envelope()];
    }

    /**
     * What only the other store has, such as its locks.
     *
     * @param array<mixed> $arguments
     * @return mixed
     */
    public function __call(string $method, array $arguments)
    {
        return $this->inner->$method(...$arguments);
    }

    public function get($key)
    {
        return $this->envelope->openStored($this->inner->get($key));
    }

    public function many(array $keys)
    {
        return array_map([$this->envelope, 'openStored'], $this->inner->many($keys));
    }

    public function put($key, $value, $seconds)
    {
        return $this->inner->put($key, $this->sealed($value), $seconds);
    }

    /** Laravel looks for this method, and does without it what is done here for a store that lacks it. */
    public function add($key, $value, $seconds)
    {
        if (method_exists($this->inner, 'add')) {
            return $this->inner->add($key, $this->sealed($value), $seconds);
        }
        return $this->get($key) === null && $this->put($key, $value, $seconds);
    }

    public function putMany(array $values, $seconds)
    {
        return $this->inner->putMany(array_map([$this, 'sealed'], $values), $seconds);
    }

    public function increment($key, $value = 1)
    {
        return $this->inner->increment($key, $value);
    }

    public function decrement($key, $value = 1)
    {
        return $this->inner->decrement($key, $value);
    }

    public function forever($key, $value)
    {
        return $this->inner->forever($key, $this->sealed($value));
    }

    public function forget($key)
    {
        return $this->inner->forget($key);
    }

    /** Asked for by Laravel 13. */
    public function touch($key, $seconds)
    {
        return $this->inner->touch($key, $seconds);
    }

    public function flush()
    {
        return $this->inner->flush();
    }

    public function getPrefix()
    {
        return $this->inner->getPrefix();
    }

    public function lock($name, $seconds = 0, $owner = null)
    {
        return $this->__call('lock', [$name, $seconds, $owner]);
    }

    public function restoreLock($name, $owner)
    {
        return $this->__call('restoreLock', [$name, $owner]);
    }

    /**
     * @param mixed $value
     * @return mixed
     */
    private function sealed($value)
    {
        return is_numeric($value) ? $value : $this->envelope->sealValue($value);
    }
}
