<?php
/** The memcached extension as it is without any option; what that means here stands in the name of its library. */

use Weighbridge\Extension;
use Weighbridge\Memcached\PhpMemcached;

return array(
    'about' => 'the memcached extension with its default serializer and, for values that do not come encoded, its default compression',
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
