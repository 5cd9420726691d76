<?php
namespace Weighbridge\Memcached;

use Weighbridge\Address;
use Weighbridge\Fault;
use Weighbridge\Wire;

/**
 * The part of Memcached's text protocol that single values need.
 *
 * An error reply is a Fault, after which the connection stays open; any other error ends the connection.
 */
final class TextProtocol
{
    private $wire;

    /**
     * Connects, and authenticates if the address has `user` and `password` (a server started with -Y).
     *
     * @param float $timeout seconds, for connecting and for each reply
     */
    public function __construct(array $address, $timeout)
    {
        Address::check($address, array('unix', 'host'), array('user', 'password'));
        $this->wire = new Wire($address, $timeout);
        if (isset($address['password'])) {
            // The name of the key does not matter here.
            $this->put('auth', (isset($address['user']) ? $address['user'] : '') . ' ' . $address['password']);
        }
    }

    public function put($key, $value)
    {
        $length = strlen($value);
        $this->wire->write("set $key 0 0 $length\r\n$value\r\n");
        $line = $this->wire->line();
        if ($line !== 'STORED') {
            throw $this->refusal($line);
        }
    }

    /** @return string|null */
    public function get($key)
    {
        $this->wire->write("get $key\r\n");
        $line = $this->wire->line();
        if ($line === 'END') {
            return null;
        }
        $words = explode(' ', $line);
        if (count($words) < 4 || $words[0] !== 'VALUE' || $words[1] !== $key || !preg_match('/^\d{1,10}$/D', $words[3])) {
            throw $this->refusal($line);
        }
        $length = (int) $words[3];
        $bytes = $this->wire->exactly($length + 7);
        if (substr($bytes, -7) !== "\r\nEND\r\n") {
            throw $this->wire->garbage("$line without END after its bytes");
        }
        // The cast is for PHP before 8.0, where an empty string is returned as false.
        return (string) substr($bytes, 0, $length);
    }

    /** @return bool whether the key existed */
    public function remove($key)
    {
        $this->wire->write("delete $key\r\n");
        $line = $this->wire->line();
        if ($line !== 'DELETED' && $line !== 'NOT_FOUND') {
            throw $this->refusal($line);
        }
        return $line === 'DELETED';
    }

    /** @return string|null the server's version */
    public function server()
    {
        $this->wire->write("version\r\n");
        $line = $this->wire->line();
        return strncmp($line, 'VERSION ', 8) === 0 ? substr($line, 8, 40) : null;
    }

    public function close()
    {
        $this->wire->close();
    }

    /** @return \Exception the failure for a reply that is not a success */
    private function refusal($line)
    {
        if (!preg_match('/^(?:(?:SERVER|CLIENT)_ERROR (.*)|ERROR|NOT_STORED)/', $line, $match)) {
            return $this->wire->garbage($line);
        }
        $message = isset($match[1]) ? $match[1] : $line;
        if (stripos($message, 'authenti') !== false) {
            return new Fault('response', $message, 'check the user and password in the URL');
        }
        if (stripos($message, 'too large') !== false) {
            $remedy = 'start memcached with a larger -I (such as -I 8m), or store less';
            return new Fault('response', "the value is over the server's limit: $message", $remedy);
        }
        // After an unknown command, the server may take the next bytes for commands.
        $lost = $line === 'ERROR' || $line[0] === 'C';
        return $lost ? new \RuntimeException("memcached answered: $message") : new Fault('response', $message);
    }
}
