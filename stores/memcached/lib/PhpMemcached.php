<?php
namespace Weighbridge\Memcached;

use Weighbridge\Address;
use Weighbridge\Fault;

/** A connection through the memcached extension. */
final class PhpMemcached
{
    private $memcached;
    private $place;

    /**
     * The extension connects with the first command.
     *
     * @param float $timeout seconds, for connecting and for each reply
     * @param bool  $encoded whether values are encoded already: then they are not compressed again
     */
    public function __construct(array $address, $timeout, $encoded)
    {
        if (isset($address['password'])) {
            $message = 'the memcached extension supports only SASL authentication, which is not supported here';
            throw new Fault('parameter', $message, 'use the driver socket for a server started with -Y');
        }
        Address::check($address, array('unix', 'host'), array());
        $this->place = Address::name($address);
        $this->memcached = new \Memcached();
        $milliseconds = (int) ceil($timeout * 1000);
        $this->memcached->setOptions(array(
            \Memcached::OPT_CONNECT_TIMEOUT => $milliseconds,
            \Memcached::OPT_POLL_TIMEOUT => $milliseconds,
            \Memcached::OPT_SEND_TIMEOUT => $milliseconds * 1000,
            \Memcached::OPT_RECV_TIMEOUT => $milliseconds * 1000,
        ));
        if ($encoded) {
            $this->memcached->setOption(\Memcached::OPT_COMPRESSION, false);
        }
        if (isset($address['unix'])) {
            $this->memcached->addServer($address['unix'], 0);
        } else {
            $this->memcached->addServer($address['host'], $address['port']);
        }
        if ($this->memcached->getVersion() === false) {
            throw $this->refusal();
        }
    }

    /** @return string the extension's version with its settings in this PHP */
    public static function library()
    {
        $memcached = new \Memcached();
        $names = array(
            \Memcached::SERIALIZER_PHP => 'php', \Memcached::SERIALIZER_IGBINARY => 'igbinary',
            \Memcached::SERIALIZER_JSON => 'json', \Memcached::SERIALIZER_JSON_ARRAY => 'json',
            \Memcached::SERIALIZER_MSGPACK => 'msgpack',
        );
        $serializer = $memcached->getOption(\Memcached::OPT_SERIALIZER);
        $serializer = isset($names[$serializer]) ? $names[$serializer] : "number $serializer";
        $compression = ini_get('memcached.compression_type') . ' above ' . ini_get('memcached.compression_threshold');
        $compression = $memcached->getOption(\Memcached::OPT_COMPRESSION) ? "$compression bytes" : 'none';
        return 'php-memcached ' . phpversion('memcached') . " (serializer $serializer, compression $compression)";
    }

    public function put($key, $value)
    {
        if ($this->memcached->set($key, $value) !== true) {
            throw $this->refusal();
        }
    }

    /** @return mixed the value; null: none */
    public function get($key)
    {
        $value = $this->memcached->get($key);
        if ($value === false && $this->memcached->getResultCode() !== \Memcached::RES_SUCCESS) {
            if ($this->code() === \Memcached::RES_NOTFOUND) {
                return null;
            }
            throw $this->refusal();
        }
        return $value;
    }

    /** @return bool whether the key existed */
    public function remove($key)
    {
        if ($this->memcached->delete($key)) {
            return true;
        }
        if ($this->memcached->getResultCode() !== \Memcached::RES_NOTFOUND) {
            throw $this->refusal();
        }
        return false;
    }

    /** @return string|null the server's version */
    public function server()
    {
        $versions = $this->memcached->getVersion();
        return is_array($versions) && $versions ? (string) reset($versions) : null;
    }

    public function close()
    {
        $this->memcached->quit();
    }

    /** @return int the latest result code: the extension also reports NOT FOUND for a read that timed out or was refused */
    private function code()
    {
        $code = $this->memcached->getResultCode();
        $asked = $code === \Memcached::RES_NOTFOUND && method_exists($this->memcached, 'getLastErrorCode');
        $cause = $asked ? $this->memcached->getLastErrorCode() : \Memcached::RES_SUCCESS;
        return $cause === \Memcached::RES_SUCCESS ? $code : $cause;
    }

    /** @return \Exception the failure for the latest result */
    private function refusal()
    {
        $code = $this->code();
        if ($code === \Memcached::RES_E2BIG) {
            $remedy = 'start memcached with a larger -I (such as -I 8m), or store less';
            return new Fault('response', "the value is over the server's limit: ITEM TOO BIG", $remedy);
        }
        // The library's own error text says more, after a memory address that differs each time.
        $more = method_exists($this->memcached, 'getLastErrorMessage') ? $this->memcached->getLastErrorMessage() : 'SUCCESS';
        $more = preg_replace('/^\(0x[0-9a-f]+\) /', '', $more);
        $message = $more === 'SUCCESS' ? $this->memcached->getResultMessage() : $more;
        if ($code === \Memcached::RES_SERVER_ERROR || $code === \Memcached::RES_SERVER_MEMORY_ALLOCATION_FAILURE) {
            return new Fault('response', $message);
        }
        return new \RuntimeException("{$this->place}: $message");
    }
}
