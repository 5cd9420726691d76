<?php
/**
 * Aerospike's wire protocol in plain PHP: single records of one server, without TLS and authentication.
 * It needs no extension and runs on every PHP from 5.5.
 */

use Weighbridge\Aerospike\Address;
use Weighbridge\Aerospike\Store;
use Weighbridge\Fault;

$missing = function () {
    if (PHP_INT_SIZE < 8) {
        return 'this PHP has 32-bit integers; Aerospike needs 64-bit integers';
    }
    if (!function_exists('hash_algos') || !in_array('ripemd160', hash_algos(), true)) {
        return 'this PHP has no RIPEMD-160, which is in its hash extension';
    }
    return null;
};

return array(
    'about' => 'the wire protocol in plain PHP: one server, without TLS and authentication',
    'library' => function () use ($missing) {
        return $missing() === null ? 'Weighbridge\'s own client in PHP ' . PHP_VERSION : null;
    },
    'missing' => $missing,
    'remedy' => 'use a 64-bit PHP with the hash extension',
    'schemes' => array('tcp'),
    'native' => array('integer', 'text', 'record'),
    'shared' => true,
    'open' => function (array $address, $timeout) {
        if (isset($address['user']) || isset($address['password'])) {
            $message = 'the driver `wire` cannot sign in to an Aerospike server';
            throw new Fault('parameter', $message, 'use the driver `extension`, or a server without authentication');
        }
        return new Store(new Address($address), (float) $timeout);
    },
);
