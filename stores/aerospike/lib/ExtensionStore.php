<?php
namespace Weighbridge\Aerospike;

/**
 * Values in a namespace, through the `Aerospike` class of the extension that wraps the C client. Stores the same as Store
 * does: the whole record is replaced, the time to live is the namespace's, a single text is a blob.
 */
final class ExtensionStore
{
    private $client;
    private $namespace;
    private $options;

    /**
     * @param array $credentials `user` and `password`, or empty
     * @param float $timeout     seconds for connecting and for each reply
     */
    public function __construct(Address $address, array $credentials, $timeout)
    {
        $config = array('hosts' => array(array('addr' => $address->host, 'port' => $address->port)));
        if ($credentials) {
            $config['user'] = $credentials['user'];
            $config['pass'] = $credentials['password'];
        }
        $milliseconds = (int) max(1, $timeout * 1000);
        $options = array(
            \Aerospike::OPT_CONNECT_TIMEOUT => $milliseconds,
            \Aerospike::OPT_READ_TIMEOUT => $milliseconds,
            \Aerospike::OPT_WRITE_TIMEOUT => $milliseconds,
        );
        $this->namespace = $address->namespace;
        $this->options = array(\Aerospike::OPT_POLICY_EXISTS => \Aerospike::POLICY_EXISTS_CREATE_OR_REPLACE);
        // A persistent connection would be shared with the next measurement.
        $this->client = new \Aerospike($config, false, $options);
        if (!$this->client->isConnected()) {
            throw $this->failure($address->name() . ': cannot connect');
        }
    }

    /** Stores a value, and replaces the key's previous value. */
    public function put($key, $value)
    {
        if (is_array($value) && !Packer::isList($value)) {
            Record::inspect($value);
            $bins = $value;
        } else {
            $bins = array(Address::BIN => is_string($value) ? new \Aerospike\Bytes($value) : $value);
        }
        if ($this->client->put($this->key($key), $bins, 0, $this->options) !== \Aerospike::OK) {
            throw $this->failure('put');
        }
    }

    /** @return mixed the value; null: none */
    public function get($key)
    {
        $record = null;
        $status = $this->client->get($this->key($key), $record);
        if ($status === \Aerospike::ERR_RECORD_NOT_FOUND) {
            return null;
        }
        if ($status !== \Aerospike::OK) {
            throw $this->failure('get');
        }
        $value = Record::value($record['bins']);
        return $value instanceof \Aerospike\Bytes ? $value->s : $value;
    }

    /** @return bool whether there was a value */
    public function remove($key)
    {
        $status = $this->client->remove($this->key($key));
        if ($status !== \Aerospike::OK && $status !== \Aerospike::ERR_RECORD_NOT_FOUND) {
            throw $this->failure('remove');
        }
        return $status === \Aerospike::OK;
    }

    /** @return string|null the server's version; null if it does not report one */
    public function server()
    {
        $answer = '';
        $known = $this->client->info('build', $answer) === \Aerospike::OK;
        return $known && preg_match('/^build\t(\d[\w.-]{0,40})\s*$/', $answer, $match) ? $match[1] : null;
    }

    public function close()
    {
        $this->client->close();
    }

    private function key($key)
    {
        return $this->client->initKey($this->namespace, Address::SET, $key);
    }

    /** @return \Exception of an operation, with the client's own message: a Fault if a server replied with a code */
    private function failure($operation)
    {
        $code = $this->client->errorno();
        $words = $this->client->error();
        // The client's own codes, such as for a failed connection, are not above zero.
        return $code > 0 ? Result::fault($operation, $code, $words) : new Failure("$operation: client code $code: $words");
    }
}
