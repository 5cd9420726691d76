<?php
/**
 * Symfony's RedisAdapter over the redis extension. A write is one save() of a new item, as in Symfony's own PSR-16
 * adapter. Many applications call getItem() before it, which would be a read.
 */

use Symfony\Component\Cache\Adapter\RedisAdapter;
use Symfony\Component\Cache\Marshaller\DefaultMarshaller;
use Symfony\Component\Cache\Marshaller\DeflateMarshaller;
use Weighbridge\Extension;
use Weighbridge\Redis\SymfonyMarshaller;
use Weighbridge\Redis\SymfonyStore;
use Weighbridge\Symfony;

$marshaller = function () {
    return new DeflateMarshaller(new DefaultMarshaller());
};

return array(
    'about' => 'Symfony\'s RedisAdapter; without an encoding of its own it uses DeflateMarshaller over DefaultMarshaller',
    'library' => function () {
        $igbinary = SymfonyStore::takesIgbinary(new DefaultMarshaller());
        $serializer = $igbinary ? 'igbinary ' . phpversion('igbinary') : 'serialize';
        return Symfony::library() . " (default marshaller: $serializer), phpredis " . phpversion('redis');
    },
    'missing' => function () use ($marshaller) {
        $missing = Extension::missingClass('redis', 'Redis') ?: Extension::missing('zlib', 'gzdeflate');
        return $missing ?: Symfony::missing(function () use ($marshaller) {
            new RedisAdapter(new \Redis(), '', 0, $marshaller());
        });
    },
    'schemes' => array('unix', 'tcp'),
    'native' => array('integer', 'text', 'record', 'value'),
    'shared' => true,
    'marshals' => true,
    'open' => function (array $address, $timeout, array $options) use ($marshaller) {
        require_once dirname(__DIR__) . '/lib/polyfill.php';
        $ours = $options['marshaller'];
        return new SymfonyStore($address, $timeout, $ours === null ? $marshaller() : new SymfonyMarshaller($ours));
    },
);
