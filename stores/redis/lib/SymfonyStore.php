<?php
namespace Weighbridge\Redis;

use Symfony\Component\Cache\Adapter\RedisAdapter;
use Symfony\Component\Cache\CacheItem;

/**
 * A store behind Symfony's RedisAdapter.
 *
 * Symfony treats failures as warnings and suppresses them. These are caught here, because a lost cache
 * would otherwise look like an empty one.
 */
final class SymfonyStore
{
    private $redis;
    private $adapter;
    private $item;
    private $unwraps;
    private $warning;

    /** @param object $marshaller one of Symfony's, or a SymfonyMarshaller */
    public function __construct(array $address, $timeout, $marshaller)
    {
        $this->redis = PhpRedis::connect($address, $timeout);
        $this->adapter = new RedisAdapter($this->redis, '', 0, $marshaller);
        $this->unwraps = $marshaller instanceof SymfonyMarshaller;
        $this->item = \Closure::bind(function ($key) {
            $item = new CacheItem();
            $item->key = $key;
            return $item;
        }, null, 'Symfony\Component\Cache\CacheItem');
        $previous = set_error_handler(function ($severity, $message, $file, $line) use (&$previous) {
            if ($severity === E_USER_WARNING && strpos($message, 'Failed to ') === 0) {
                $this->warning = $message;
            }
            return $previous === null ? false : call_user_func($previous, $severity, $message, $file, $line);
        });
    }

    /** @return bool whether Symfony's marshaller uses igbinary here */
    public static function takesIgbinary($marshaller)
    {
        $failed = array();
        $texts = $marshaller->marshall(array('try' => array(1)), $failed);
        return $texts['try'] !== serialize(array(1));
    }

    public function put($key, $value)
    {
        $item = $this->item;
        $item = $item(strtr($key, ':', '.'));
        if (!$this->adapter->save($item->set($value))) {
            throw $this->failure('save');
        }
    }

    /** @return mixed the value; null: none */
    public function get($key)
    {
        $item = $this->adapter->getItem(strtr($key, ':', '.'));
        if (!$item->isHit()) {
            if ($this->warning !== null) {
                throw $this->failure('fetch');
            }
            return null;
        }
        return $this->unwraps ? $item->get()->value : $item->get();
    }

    /** @return bool whether the key existed */
    public function remove($key)
    {
        $key = strtr($key, ':', '.');
        return $this->adapter->hasItem($key) && $this->adapter->deleteItem($key);
    }

    /** @return string|null the server's version */
    public function server()
    {
        return PhpRedis::version($this->redis);
    }

    public function close()
    {
        restore_error_handler();
        $this->redis->close();
    }

    /** @return \Exception why the latest call had no effect */
    private function failure($what)
    {
        $error = $this->redis->getLastError();
        $warning = $this->warning;
        $this->warning = null;
        if ($error !== null) {
            $this->redis->clearLastError();
            return Info::fault($error);
        }
        return new \RuntimeException($warning !== null ? $warning : "Symfony's cache could not $what the item and gave no reason");
    }
}
