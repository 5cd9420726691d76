<?php
namespace Weighbridge\Aerospike;

use Weighbridge\Fault;

/** Where records are stored: a server, one of its namespaces and the program's set. Refuses impossible values. */
final class Address
{
    /** The set of all records of the program. */
    const SET = 'weigh';
    /** The bin of a record that holds one value only, as in the published scripts. */
    const BIN = 'v';

    public $host;
    public $port;
    public $namespace;

    /** @param array $address `host`, `port` and `namespace` */
    public function __construct(array $address)
    {
        $lacking = array_diff(array('host', 'port', 'namespace'), array_keys($address));
        if ($lacking) {
            throw new Fault('parameter', 'the address of the Aerospike server lacks ' . implode(', ', $lacking), self::form());
        }
        $this->host = (string) $address['host'];
        $this->port = (int) $address['port'];
        $this->namespace = (string) $address['namespace'];
        if ($this->host === '' || $this->port < 1 || $this->port > 65535) {
            throw new Fault('parameter', "no Aerospike server can have the address $this->host:$this->port", self::form());
        }
        // The name is part of the info protocol, so it may only have the characters of the server's own grammar.
        if (!preg_match('/^[A-Za-z0-9_$-]{1,31}\z/', $this->namespace)) {
            $message = 'a namespace of Aerospike has 1 to 31 letters, digits, _, - or $';
            $given = preg_replace('/[^\x20-\x7e]/', '?', substr($this->namespace, 0, 80));
            throw new Fault('parameter', "$message, not `$given`", self::form());
        }
    }

    /** @return string host and port, for messages */
    public function name()
    {
        return "$this->host:$this->port";
    }

    /** @return string for stream_socket_client() */
    public function target()
    {
        $host = strpos($this->host, ':') !== false && $this->host[0] !== '[' ? "[$this->host]" : $this->host;
        return "tcp://$host:$this->port";
    }

    private static function form()
    {
        return 'give the server as aerospike://HOST:PORT/NAMESPACE';
    }
}
