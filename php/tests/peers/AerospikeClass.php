<?php
/** The interface of the extension's classes as its documentation has it, with records kept in this process. */

namespace Aerospike {
    final class Bytes
    {
        public $s;

        public function __construct($bytes)
        {
            $this->s = $bytes;
        }
    }
}

namespace {
    final class Aerospike
    {
        const OK = 'AEROSPIKE_OK';
        const ERR_RECORD_NOT_FOUND = 'AEROSPIKE_ERR_RECORD_NOT_FOUND';
        const OPT_CONNECT_TIMEOUT = 'OPT_CONNECT_TIMEOUT';
        const OPT_READ_TIMEOUT = 'OPT_READ_TIMEOUT';
        const OPT_WRITE_TIMEOUT = 'OPT_WRITE_TIMEOUT';
        const OPT_POLICY_EXISTS = 'OPT_POLICY_EXISTS';
        const POLICY_EXISTS_CREATE_OR_REPLACE = 4;

        private $records = array();
        private $code = 0;
        private $words = '';
        private $there;

        public function __construct(array $config, $persistent, array $options)
        {
            $timeouts = array_fill_keys(array(self::OPT_CONNECT_TIMEOUT, self::OPT_READ_TIMEOUT, self::OPT_WRITE_TIMEOUT), 1500);
            $this->there = $config['hosts'][0]['addr'] === '127.0.0.1' && $config['hosts'][0]['port'] > 0
                && $config['user'] === 'me' && $config['pass'] === 'secret' && !$persistent && $options === $timeouts;
            $this->fail($this->there ? 0 : -1, $this->there ? '' : 'nothing there');
        }

        public function isConnected()
        {
            return $this->there;
        }

        public function initKey($namespace, $set, $key)
        {
            return array('ns' => $namespace, 'set' => $set, 'key' => $key);
        }

        public function put(array $key, array $bins, $ttl, array $options)
        {
            if ($key['key'] === 'big') {
                return $this->fail(13, 'too big for me');
            }
            if ($ttl !== 0 || $options !== array(self::OPT_POLICY_EXISTS => self::POLICY_EXISTS_CREATE_OR_REPLACE)) {
                return $this->fail(4, 'other options');
            }
            foreach ($bins as $bin) {
                // A text ends with its first zero byte there.
                if (is_string($bin) && strpos($bin, "\0") !== false) {
                    return $this->fail(4, 'a zero byte');
                }
            }
            $this->records[implode('|', $key)] = $bins;
            return $this->fail(0, '');
        }

        public function get(array $key, &$record)
        {
            if ($key['key'] === 'big') {
                return $this->fail(13, 'too big for me');
            }
            if (!isset($this->records[implode('|', $key)])) {
                return $this->fail(2, 'not found');
            }
            $record = array('key' => $key, 'metadata' => array('ttl' => 0), 'bins' => $this->records[implode('|', $key)]);
            return $this->fail(0, '');
        }

        public function remove(array $key)
        {
            $there = isset($this->records[implode('|', $key)]);
            unset($this->records[implode('|', $key)]);
            return $this->fail($there ? 0 : 2, '');
        }

        public function info($request, &$response)
        {
            $response = "$request\t6.4.0.1\n";
            return self::OK;
        }

        public function error()
        {
            return $this->words;
        }

        public function errorno()
        {
            return $this->code;
        }

        public function close()
        {
            $this->there = false;
        }

        private function fail($code, $words)
        {
            $this->code = $code;
            $this->words = $words;
            return $code === 0 ? self::OK : ($code === 2 ? self::ERR_RECORD_NOT_FOUND : "code $code");
        }
    }
}
