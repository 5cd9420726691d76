<?php
namespace Weighbridge\Apcu;

use Weighbridge\Fault;

/** APCu's memory. */
final class Store
{
    public function put($key, $value)
    {
        if (apcu_store($key, $value) !== true) {
            $size = ini_get('apc.shm_size');
            throw new Fault('response', "APCu did not store the value: is its memory of $size full?", 'raise apc.shm_size');
        }
    }

    /** @return mixed the value; null: none */
    public function get($key)
    {
        $value = apcu_fetch($key, $found);
        return $found ? $value : null;
    }

    /** @return bool whether the key existed */
    public function remove($key)
    {
        return apcu_delete($key);
    }

    /** @return null: there is no server */
    public function server()
    {
        return null;
    }

    public function close()
    {
    }
}
