<?php
/** The memcached extension with default options; these are part of the library name that is reported. */

use Weighbridge\Extension;
use Weighbridge\Memcached\PhpMemcached;

return array(
    'about' => 'the memcached extension with its default serializer and, unless the worker encodes values, its default compression',
    'library' => function () {
        return PhpMemcached::library();
    },
    'missing' => function () {
        return Extension::missingClass('memcached', 'Memcached');
    },
    'schemes' => array('unix', 'tcp'),
    'native' => array('integer', 'text', 'record', 'value'),
    'extension' => true,
    'shared' => true,
    'open' => function (array $address, $timeout, array $options) {
        return new PhpMemcached($address, $timeout, $options['encoded']);
    },
);
