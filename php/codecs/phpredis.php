<?php
/**
 * What phpredis does with a value by its own options, OPT_SERIALIZER and OPT_COMPRESSION, before it sends it. No code of PHP runs, and no
 * library is needed. Levels are the client's own: 3 of zstd, the fast one of LZ4.
 */

use Weighbridge\Coder;
use Weighbridge\Extension;
use Weighbridge\Fault;
use Weighbridge\Params;

return array(
    'format' => 'phpredis',
    'takes_value' => true,
    'options' => array(
        'compression' => array('words' => array('zstd', 'lz4', 'lzf'), 'about' => 'OPT_COMPRESSION; zstd without it'),
        'serializer' => array('words' => array('igbinary', 'php'), 'about' => 'OPT_SERIALIZER; php without it, which is serialize()'),
    ),
    'bindings' => array(
        'extension' => array(
            'missing' => function () {
                $missing = Extension::missingClass('redis', 'Redis');
                if ($missing === null && !method_exists('Redis', '_pack')) {
                    return new Fault('missing', 'this phpredis packs no values for others', 'use a newer phpredis; 5.3.7 does');
                }
                return $missing;
            },
            'library' => function () {
                return 'phpredis ' . phpversion('redis');
            },
            'coder' => function (Params $params) {
                // Before version 6 it takes options only when it is connected: to a socket that nobody answers.
                $server = stream_socket_server('tcp://127.0.0.1:0');
                $redis = new \Redis();
                $redis->connect('127.0.0.1', (int) substr(strrchr(stream_socket_get_name($server, false), ':'), 1));
                $options = array(
                    'SERIALIZER' => $params->option('serializer', 'php'), 'COMPRESSION' => $params->option('compression', 'zstd'),
                );
                foreach ($options as $option => $word) {
                    $constant = 'Redis::' . $option . '_' . strtoupper($word);
                    if (!defined($constant)) {
                        throw new Fault('missing', "this phpredis was built without $word", 'take another option, or another package of it');
                    }
                    $redis->setOption(constant("Redis::OPT_$option"), constant($constant));
                }
                return new Coder(
                    function ($value) use ($redis, $server) {
                        return $redis->_pack($value);
                    },
                    array(array($redis, '_unpack'))
                );
            },
        ),
    ),
);
