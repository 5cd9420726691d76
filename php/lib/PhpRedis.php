<?php
namespace Weighbridge;

/** A connection by the redis extension. */
final class PhpRedis
{
    private $redis;

    /**
     * Connects, logs in and selects the database, where the address has `password` (and `user`) and `database`.
     *
     * @param float $timeout seconds, for connecting and for each answer
     */
    public function __construct(array $address, $timeout)
    {
        Address::check($address, array('unix', 'host'), array('user', 'password', 'database'));
        $this->redis = new \Redis();
        $host = isset($address['unix']) ? $address['unix'] : $address['host'];
        $port = isset($address['unix']) ? 0 : $address['port'];
        try {
            $connected = $this->redis->connect($host, $port, $timeout, null, 0, $timeout);
        } catch (\Exception $error) {
            throw new \RuntimeException('connecting to ' . Address::name($address) . ': ' . $error->getMessage());
        }
        if (!$connected) {
            throw new \RuntimeException('connecting to ' . Address::name($address) . ': refused');
        }
        if (isset($address['password'])) {
            $login = isset($address['user']) ? array($address['user'], $address['password']) : $address['password'];
            $this->insist('auth', $login);
        }
        if (isset($address['database'])) {
            $this->insist('select', (int) $address['database']);
        }
    }

    public function put($key, $value)
    {
        if ($this->redis->set($key, $value) !== true) {
            throw $this->refusal('SET');
        }
    }

    /** @return string|null */
    public function get($key)
    {
        $value = $this->redis->get($key);
        if ($value === false) {
            // No value and an error look alike, but for the message.
            if ($this->redis->getLastError() !== null) {
                throw $this->refusal('GET');
            }
            return null;
        }
        return $value;
    }

    /** @return bool whether it was there */
    public function remove($key)
    {
        $removed = $this->redis->del($key);
        if ($removed === false) {
            throw $this->refusal('DEL');
        }
        return $removed > 0;
    }

    /** @return string|null the server's version */
    public function server()
    {
        try {
            $info = $this->redis->info('server');
        } catch (\RedisException $refused) {
            return null;
        }
        $lines = '';
        foreach (is_array($info) ? $info : array() as $name => $value) {
            $lines .= "$name:$value\n";
        }
        return RedisInfo::version($lines);
    }

    public function close()
    {
        $this->redis->close();
    }

    /** Some versions throw an error reply to these, and some give false. */
    private function insist($command, $argument)
    {
        try {
            $done = $this->redis->$command($argument);
        } catch (\RedisException $error) {
            throw RedisInfo::fault($error->getMessage());
        }
        if ($done !== true) {
            throw $this->refusal(strtoupper($command));
        }
    }

    /** @return Fault for the latest error reply */
    private function refusal($command)
    {
        $message = $this->redis->getLastError();
        $this->redis->clearLastError();
        return RedisInfo::fault($message !== null ? $message : "$command failed without a message");
    }
}
