<?php
namespace Weighbridge\Aerospike;

/**
 * Requests on single records, byte for byte as an official client with these policies sends them: a write replaces
 * the whole record, the time to live is the namespace's, the key itself is not sent, only its digest.
 */
final class Message
{
    const INFO = 1;
    const RECORD = 3;
    /** The length of a message's header; the fields follow. */
    const HEADER = 22;

    const READ_ALL = 0x03;
    const WRITE = 0x01;
    const WRITE_DELETE = 0x03;
    const CREATE_OR_REPLACE = 0x10;

    /** The fields of a namespace and a set, which precede the digest in every request. */
    private $place;
    private $set;
    private $limit;

    /**
     * @param string $namespace
     * @param string $set
     * @param int    $limit     milliseconds after which the server need not reply
     */
    public function __construct($namespace, $set, $limit)
    {
        $this->set = $set;
        $this->limit = $limit;
        $this->place = self::field(0, $namespace) . self::field(1, $set);
    }

    /** @return string the request that stores a value */
    public function put($key, $value)
    {
        list($count, $operations) = Record::write($value);
        return $this->request(0, self::WRITE, self::CREATE_OR_REPLACE, $key, $count, $operations);
    }

    /** @return string the request for all bins of a record */
    public function get($key)
    {
        return $this->request(self::READ_ALL, 0, 0, $key, 0, '');
    }

    /** @return string the request that deletes a record */
    public function delete($key)
    {
        return $this->request(0, self::WRITE_DELETE, 0, $key, 0, '');
    }

    /**
     * @param array $names names of the requested values, such as `build`
     * @return string the request of the info protocol
     */
    public static function info(array $names)
    {
        $body = implode("\n", $names) . "\n";
        return pack('CCnN', 2, self::INFO, 0, strlen($body)) . $body;
    }

    /**
     * The identifier of a record in a server: RIPEMD-160 of the set, the key's type and the key.
     *
     * @param string     $set
     * @param string|int $key
     * @return string 20 bytes
     */
    public static function digest($set, $key)
    {
        $typed = is_int($key) ? "\x01" . Number::integer($key) : "\x03$key";
        return hash('ripemd160', $set . $typed, true);
    }

    private function request($read, $write, $info, $key, $count, $operations)
    {
        $fields = $this->place . "\x00\x00\x00\x15\x04" . self::digest($this->set, $key);
        // Zero: the fourth byte of flags, the result code, generation and time to live.
        $length = self::HEADER + strlen($fields) + strlen($operations);
        $header = pack('CCnNC4x10', 2, self::RECORD, 0, $length, self::HEADER, $read, $write, $info);
        return $header . pack('Nnn', $this->limit, 3, $count) . $fields . $operations;
    }

    private static function field($type, $bytes)
    {
        return pack('NC', strlen($bytes) + 1, $type) . $bytes;
    }
}
