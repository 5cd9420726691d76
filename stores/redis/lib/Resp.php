<?php
namespace Weighbridge\Redis;

use Weighbridge\Address;
use Weighbridge\Fault;
use Weighbridge\Wire;

/**
 * The part of RESP2, the protocol of Redis and Valkey, that single values need.
 *
 * An error reply is a Fault, after which the connection stays open; any other error ends the connection.
 */
final class Resp
{
    private $wire;

    /**
     * Connects; authenticates and selects the database if the address has `password` (and `user`) and `database`.
     *
     * @param float $timeout seconds, for connecting and for each reply
     */
    public function __construct(array $address, $timeout)
    {
        Address::check($address, array('unix', 'host'), array('user', 'password', 'database'));
        $this->wire = new Wire($address, $timeout);
        if (isset($address['password'])) {
            $login = isset($address['user']) ? array($address['user'], $address['password']) : array($address['password']);
            $this->call(array_merge(array('AUTH'), $login));
        }
        if (isset($address['database'])) {
            $this->call(array('SELECT', (string) $address['database']));
        }
    }

    public function put($key, $value)
    {
        $value = (string) $value;
        $this->wire->write("*3\r\n$3\r\nSET\r\n$" . strlen($key) . "\r\n$key\r\n$" . strlen($value) . "\r\n$value\r\n");
        $reply = $this->reply();
        if ($reply !== 'OK') {
            throw $this->wire->garbage('SET gave ' . json_encode($reply));
        }
    }

    /** @return string|null */
    public function get($key)
    {
        $this->wire->write("*2\r\n$3\r\nGET\r\n$" . strlen($key) . "\r\n$key\r\n");
        return $this->reply();
    }

    /** @return bool whether the key existed */
    public function remove($key)
    {
        return $this->call(array('DEL', $key)) === 1;
    }

    /** @return string|null the server's version */
    public function server()
    {
        try {
            return Info::version($this->call(array('INFO', 'server')));
        } catch (Fault $refused) {
            return null;
        }
    }

    public function close()
    {
        $this->wire->close();
    }

    /** @return mixed the reply to a command */
    private function call(array $words)
    {
        $command = '*' . count($words) . "\r\n";
        foreach ($words as $word) {
            $command .= '$' . strlen($word) . "\r\n$word\r\n";
        }
        $this->wire->write($command);
        return $this->reply();
    }

    /** @return string|int|null one reply; no command here returns arrays */
    private function reply()
    {
        $line = $this->wire->line();
        $rest = (string) substr($line, 1);
        switch ($line === '' ? '' : $line[0]) {
            case '$':
                return $this->bulk($rest, $line);
            case '+':
                return $rest;
            case ':':
                return (int) $rest;
            case '-':
                throw Info::fault($rest);
            default:
                throw $this->wire->garbage($line);
        }
    }

    private function bulk($length, $line)
    {
        if ($length === '-1') {
            return null;
        }
        // The protocol's own limit is 512 MB.
        if (!preg_match('/^\d{1,9}$/D', $length) || $length > 536870912) {
            throw $this->wire->garbage($line);
        }
        $bytes = $this->wire->exactly((int) $length + 2);
        if (substr($bytes, -2) !== "\r\n") {
            throw $this->wire->garbage($line . ' without a line end after its bytes');
        }
        // The cast is for PHP before 8.0, where an empty string is returned as false.
        return (string) substr($bytes, 0, -2);
    }
}
