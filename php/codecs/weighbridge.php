<?php
/**
 * The marshaller of the PHP library for Symfony's cache: it takes a value, lets DefaultMarshaller serialize it, and seals what came
 * out with a byte for the codec and a checksum. Its least size is 0 here, so that each value is encoded.
 */

use Symfony\Component\Cache\Marshaller\DefaultMarshaller;
use Weighbridge\Coder;
use Weighbridge\Fault;
use Weighbridge\Library\Binding\Binding;
use Weighbridge\Library\Codec;
use Weighbridge\Library\Marshaller;
use Weighbridge\Library\Settings;
use Weighbridge\Params;
use Weighbridge\Symfony;

$autoload = dirname(__DIR__) . '/library/autoload.php';
$codings = array('zstd', 'gzip', 'deflate', 'br');

return array(
    'format' => 'sealed',
    'sets' => array('cache'),
    'takes_value' => true,
    'levels' => array('min' => 1, 'max' => 11, 'default' => 3, 'representative' => array(1, 3, 6, 9)),
    'nominal' => array(array(1, 200.0), array(3, 120.0), array(9, 25.0)),
    'options' => array(
        'coding' => array('words' => $codings, 'about' => 'what encodes the serialized value; zstd without it'),
        'serializer' => array(
            'words' => array('serialize', 'igbinary'),
            'about' => 'what DefaultMarshaller serializes with; serialize without it',
        ),
    ),
    'bindings' => array(
        'library' => array(
            'missing' => function () use ($autoload) {
                if (PHP_VERSION_ID < 80000) {
                    return new Fault('missing', 'the library\'s marshaller needs PHP 8', 'use a newer PHP');
                }
                return Symfony::missing(function () use ($autoload) {
                    require_once $autoload;
                    $marshaller = new Marshaller(new DefaultMarshaller(false));
                    $marshaller->marshall(array('try' => array(1)), $failed);
                });
            },
            'library' => function () use ($autoload) {
                require_once $autoload;
                $codec = new Codec();
                return Symfony::library() . ', zstd by ' . ($codec->binding('zstd', Binding::ENCODE) ?: 'nothing');
            },
            'coder' => function (Params $params) use ($autoload) {
                require_once $autoload;
                $coding = $params->option('coding', 'zstd');
                $codec = new Codec();
                if (!$codec->can($coding, Binding::ENCODE | Binding::DECODE)) {
                    throw new Fault('missing', "the library reaches no codec for $coding in this PHP", 'load FFI or its extension');
                }
                $settings = array('codec' => $coding, 'level' => $params->level, 'min_bytes' => 0);
                $marshaller = new Marshaller(
                    new DefaultMarshaller($params->option('serializer', 'serialize') === 'igbinary'),
                    Settings::fromArray(array('schema' => 1, 'value' => $settings)),
                    $codec
                );
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
