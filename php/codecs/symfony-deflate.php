<?php
/**
 * Symfony's DeflateMarshaller as it is, from Debian's php-symfony-cache: it takes a value, serializes it and
 * calls gzdeflate() without a level, which is zlib's default, 6. What it writes is a raw DEFLATE stream.
 */

use Symfony\Component\Cache\Marshaller\DefaultMarshaller;
use Symfony\Component\Cache\Marshaller\DeflateMarshaller;
use Weighbridge\Coder;
use Weighbridge\Extension;
use Weighbridge\Symfony;

return array(
    'format' => 'deflate',
    'sets' => array('cache'),
    'takes_value' => true,
    'nominal' => array(array(0, 18.0)),
    'bindings' => array(
        'library' => array(
            'missing' => function () {
                if (PHP_VERSION_ID >= 70205 && !function_exists('gzdeflate')) {
                    return Extension::missing('zlib', 'gzdeflate');
                }
                return Symfony::missing(function () {
                    $marshaller = new DeflateMarshaller(new DefaultMarshaller(false));
                    $marshaller->marshall(array('try' => array(1)), $failed);
                });
            },
            'library' => function () {
                return Symfony::library() . ', ' . Extension::library('zlib', 'zlib', array('Linked Version'));
            },
            'coder' => function () {
                // Left to itself DefaultMarshaller takes igbinary where it is loaded; with false it is always
                // serialize(), so that one name means one thing in every PHP.
                $marshaller = new DeflateMarshaller(new DefaultMarshaller(false));
                return new Coder(
                    function ($value) use ($marshaller) {
                        $marshalled = $marshaller->marshall(array('value' => $value), $failed);
                        return $marshalled['value'];
                    },
                    array(array($marshaller, 'unmarshall'))
                );
            },
        ),
    ),
);
