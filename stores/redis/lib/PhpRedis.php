<?php
namespace Weighbridge\Redis;

use Weighbridge\Address;
use Weighbridge\Fault;

/** A connection through the redis extension. */
final class PhpRedis
{
    private $redis;

    public function __construct(array $address, $timeout)
    {
        $this->redis = self::connect($address, $timeout);
    }

    /**
     * Connects; authenticates and selects the database if the address has `password` (and `user`) and `database`.
     *
     * @param float $timeout seconds, for connecting and for each reply
     * @return \Redis
     */
    public static function connect(array $address, $timeout)
    {
        Address::check($address, array('unix', 'host'), array('user', 'password', 'database'));
        $redis = new \Redis();
        $host = isset($address['unix']) ? $address['unix'] : $address['host'];
        $port = isset($address['unix']) ? 0 : $address['port'];
        try {
            $connected = $redis->connect($host, $port, $timeout, null, 0, $timeout);
        } catch (\Exception $error) {
            throw new \RuntimeException('connecting to ' . Address::name($address) . ': ' . $error->getMessage());
        }
        if (!$connected) {
            throw new \RuntimeException('connecting to ' . Address::name($address) . ': refused');
        }
        if (isset($address['password'])) {
            $login = isset($address['user']) ? array($address['user'], $address['password']) : $address['password'];
            self::insist($redis, 'auth', $login);
        }
        if (isset($address['database'])) {
            self::insist($redis, 'select', (int) $address['database']);
        }
        return $redis;
    }

    /** @return string|null the version of the server */
    public static function version(\Redis $redis)
    {
        try {
            $info = $redis->info('server');
        } catch (\RedisException $refused) {
            return null;
        }
        $lines = '';
        foreach (is_array($info) ? $info : array() as $name => $value) {
            $lines .= "$name:$value\n";
        }
        return Info::version($lines);
    }

    /** @return Fault the failure for the latest error reply */
    public static function refusal(\Redis $redis, $command)
    {
        $message = $redis->getLastError();
        $redis->clearLastError();
        return Info::fault($message !== null ? $message : "$command failed without a message");
    }

    public function put($key, $value)
    {
        try {
            $done = $this->redis->set($key, $value);
        } catch (\RedisException $error) {
            throw self::sorted($error);
        }
        if ($done !== true) {
            throw self::refusal($this->redis, 'SET');
        }
    }

    /** @return string|null */
    public function get($key)
    {
        try {
            $value = $this->redis->get($key);
        } catch (\RedisException $error) {
            throw self::sorted($error);
        }
        if ($value === false) {
            // A missing value and an error differ only by the message.
            if ($this->redis->getLastError() !== null) {
                throw self::refusal($this->redis, 'GET');
            }
            return null;
        }
        return $value;
    }

    /** @return bool whether the key existed */
    public function remove($key)
    {
        $removed = $this->redis->del($key);
        if ($removed === false) {
            throw self::refusal($this->redis, 'DEL');
        }
        return $removed > 0;
    }

    /** @return string|null the server's version */
    public function server()
    {
        return self::version($this->redis);
    }

    public function close()
    {
        $this->redis->close();
    }

    /** For these commands, some versions throw an error reply and some return false. */
    private static function insist(\Redis $redis, $command, $argument)
    {
        try {
            $done = $redis->$command($argument);
        } catch (\RedisException $error) {
            throw self::sorted($error);
        }
        if ($done !== true) {
            throw self::refusal($redis, strtoupper($command));
        }
    }

    /** @return \Exception a Fault for an error reply: the extension throws some of these, and also throws when the connection is lost */
    private static function sorted(\RedisException $error)
    {
        return preg_match('/^[A-Z]{3,} /', $error->getMessage()) === 1 ? Info::fault($error->getMessage()) : $error;
    }
}
