<?php
namespace Weighbridge\Aerospike;

use Weighbridge\Fault;

/**
 * Values in a namespace of one server. A Fault, whose reason is the server or the value, leaves the connection
 * usable; a Failure closes it.
 */
final class Store
{
    private $connection;
    private $message;
    private $build;

    /** Connects, and checks that the server can be used with this driver. */
    public function __construct(Address $address, $timeout)
    {
        $this->message = new Message($address->namespace, Address::SET, (int) max(1, $timeout * 1000));
        $this->connection = new Connection($address, $timeout);
        try {
            $this->greet($address);
        } catch (\Exception $error) {
            $this->connection->close();
            throw $error;
        }
    }

    /** Stores a value, and replaces the key's previous value. */
    public function put($key, $value)
    {
        $this->carryOut('put', $this->message->put($key, $value));
    }

    /** @return mixed the value; null: none */
    public function get($key)
    {
        $frame = $this->carryOut('get', $this->message->get($key));
        if ($frame === null) {
            return null;
        }
        try {
            return Record::value(Answer::bins($frame));
        } catch (Failure $failure) {
            $this->connection->close();
            throw new Failure('get: ' . $failure->getMessage());
        }
    }

    /** @return bool whether there was a value */
    public function remove($key)
    {
        return $this->carryOut('remove', $this->message->delete($key)) !== null;
    }

    /** @return string|null the server's version; null if it does not report one */
    public function server()
    {
        return $this->build;
    }

    public function close()
    {
        $this->connection->close();
    }

    /** @return string|null the reply to a request; null if the server has no such record */
    private function carryOut($operation, $request)
    {
        $frame = $this->connection->exchange($request, Message::RECORD);
        try {
            $code = Answer::code($frame);
        } catch (Failure $failure) {
            $this->connection->close();
            throw $failure;
        }
        if ($code === Result::OK) {
            return $frame;
        }
        if ($code === Result::NOT_FOUND && $operation !== 'put') {
            return null;
        }
        throw Result::fault($operation, $code);
    }

    private function greet(Address $address)
    {
        $request = Message::info(array('build', 'namespaces', 'peers-clear-std'));
        $info = Answer::info($this->connection->exchange($request, Message::INFO));
        $this->build = isset($info['build']) && preg_match('/^\d[\w.-]{0,40}\z/', $info['build']) ? $info['build'] : null;
        // If a server does not report a value, or requires authentication for it, the first operation shows the problem.
        if (isset($info['namespaces']) && !preg_match('/^(ERROR|FAIL)/i', $info['namespaces'])) {
            $namespaces = explode(';', $info['namespaces']);
            if (!in_array($address->namespace, $namespaces, true)) {
                $message = "{$address->name()} has no namespace `$address->namespace`";
                throw new Fault('parameter', $message, 'it has: ' . implode(', ', $namespaces));
            }
        }
        // Generation, port and a list; [] means a single server.
        if (isset($info['peers-clear-std']) && preg_match('/^\d+,\d*,\[\[/', $info['peers-clear-std'])) {
            $message = "{$address->name()} is part of a cluster; it would forward requests for records of other servers";
            throw new Fault('parameter', $message, 'use the driver `extension`, or a single server');
        }
    }
}
