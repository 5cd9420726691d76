<?php
/** Aerospike through the `Aerospike` class of the extension that wraps its C client; supports clusters and authentication. */

use Weighbridge\Aerospike\Address;
use Weighbridge\Aerospike\ExtensionStore;

$missing = function () {
    $needed = array('__construct', 'put', 'get', 'remove', 'initKey', 'error', 'errorno', 'isConnected', 'info', 'close');
    if (!class_exists('Aerospike', false)) {
        return 'the aerospike extension is not loaded in this PHP ' . PHP_VERSION;
    }
    $lacking = array_diff($needed, get_class_methods('Aerospike'));
    // The client for PHP 8 has other classes and a helper process; it is not supported here.
    return $lacking ? 'the class Aerospike of this PHP has no ' . implode('(), ', $lacking) . '()' : null;
};

return array(
    'about' => 'the extension that wraps Aerospike\'s C client',
    'library' => function () use ($missing) {
        $version = phpversion('aerospike');
        return $missing() === null ? trim("aerospike extension $version") : null;
    },
    'missing' => $missing,
    'remedy' => 'build the legacy aerospike-client-php extension for this PHP, or use the driver `wire`',
    'schemes' => array('tcp'),
    'native' => array('integer', 'text', 'record'),
    'extension' => true,
    'shared' => true,
    'open' => function (array $address, $timeout) {
        $credentials = array();
        if (isset($address['user'])) {
            $password = isset($address['password']) ? $address['password'] : '';
            $credentials = array('user' => $address['user'], 'password' => $password);
        }
        return new ExtensionStore(new Address($address), $credentials, (float) $timeout);
    },
);
