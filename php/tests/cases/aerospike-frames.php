<?php
/**
 * Aerospike's wire protocol byte for byte: digests published with the official clients, requests and answers recorded
 * between the official Python client 19.3.0 and a server 8.1.2, msgpack by its specification, and hostile answers.
 */

return function (Runner $runner, Lab $lab, $binary) {
    $driver = new StoreDriver($binary, $lab->folder, 'aerospike', 'wire');
    $spaces = 'Weighbridge\\Aerospike\\';
    $call = function ($method, array $arguments) use ($driver, $spaces) {
        return $driver->ask('static', $spaces . $method, $arguments);
    };
    $ends = array(
        'put' => '020300000000009f1600011000000000000000000000000003e80003000600000006007765696768000000060177656967680000001504'
            . 'cb47c725f44b52af385b3eb140d02b7607ce07860000000d02010001690000000000000005000000090203000173746578740000000d0202'
            . '0001643ff8000000000000000000060211000162010000000d021400016c9301d1fed4a203780000000e021300016d81a2036bce00011170',
        'get' => '02030000000000431603000000000000000000000000000003e80003000000000006007765696768000000060177656967680000001504'
            . 'cb47c725f44b52af385b3eb140d02b7607ce0786',
        'delete' => '02030000000000431600030000000000000000000000000003e8000300000000000600776569676800000006017765696768000000'
            . '1504cb47c725f44b52af385b3eb140d02b7607ce0786',
    );
    $record = array('i' => 5, 's' => 'text', 'd' => 1.5, 'b' => true, 'l' => array(1, -300, 'x'), 'm' => array('k' => 70000));
    $answers = array(
        'a record of every type' => array($record,
            '0203000000000072160000000000000000010000000000000000000000060000000d010100016900000000000000050000000901030001'
            . '73746578740000000d01020001643ff8000000000000000000060111000162010000000d011400016c9301d1fed4a203780000000e0113'
            . '00016d81a2036bce00011170'),
        'a list and a map that the server keeps in order' => array(
            array('l' => array(1, 2, 3), 'm' => array('a' => 2, 'z' => 1)),
            '020300000000003c160000000000000000010000000000000000000000020000000c011400016c94c7000101020300000012011300016d'
            . '83c70001c0a2036102a2037a01'),
    );

    $runner->test('aerospike: digests are those of the official clients', function () use ($call) {
        $digests = array(
            '7185c2a47fb02c996daed26b4e01b83240aee9d4' => PHP_INT_MAX * -1 - 1,
            '1698328974afa62c8e069860c1516f780d63dbb8' => PHP_INT_MAX,
            'd635a867b755f8f54cdc6275e6fb437df82a728c' => -2147483648,
            'fa8c47b8b898af1bbcb20af0d729ca68359a2645' => 2147483647,
            '22116d253745e29fc63fdf760b6e26f7e197e01d' => -1,
            '93d943aae37b017ad7e011b0c1d2e2143c2fb37d' => 0,
            '2819b1ff6e346a43b4f5f6b77a88bc3eaac22a83' => '',
            '607cddba7cd111745ef0a3d783d57f0e83c8f311' => 's',
            '5979fb32a80da070ff356f7695455592272e36c2' => str_repeat('a', 10),
            'f00ad7dbcb4bd8122d9681bca49b8c2ffd4beeed' => str_repeat('m', 100),
            '0a3e888c20bb8958537ddd4ba835e4070bd51740' => str_repeat('+', 100000),
        );
        foreach ($digests as $digest => $key) {
            Failure::unlessSame($digest, bin2hex($call('Message::digest', array('set', $key))), 'digest');
        }
    });

    $runner->test('aerospike: requests are the recorded ones, byte for byte', function () use ($driver, $ends, $record) {
        $frames = $driver->ask('put frame', array('weigh', 'weigh', 1000), 'rec', $record);
        Failure::unlessSame(array_values($ends), array_map('bin2hex', $frames), 'put, get, delete');
    });

    $runner->test('aerospike: integers and texts alone, as recorded', function () use ($driver) {
        $head = '02030000000000%s1600011000000000000000000000000003e80003000100000006007765696768000000060177656967680000001504';
        list($put) = $driver->ask('put frame', array('weigh', 'weigh', 1000), 7, 7);
        $recorded = 'e44a036bb99311b9409d6e2bd237dbdc6fb4daa50000000d02010001760000000000000007';
        Failure::unlessSame(sprintf($head, '54') . $recorded, bin2hex($put), 'an integer');
        list($put) = $driver->ask('put frame', array('weigh', 'weigh', 1000), 'py:blob', 'bytes');
        $recorded = 'a7348562e545b80816d6f712b083e5f8b501d7940000000a02040001766279746573';
        Failure::unlessSame(sprintf($head, '51') . $recorded, bin2hex($put), 'a text');
    });

    foreach ($answers as $title => $case) {
        $runner->test("aerospike: $title, as recorded", function () use ($call, $case) {
            Failure::unlessSame(0, $call('Answer::code', array(hex2bin($case[1]))), 'code');
            Failure::unlessSame($case[0], $call('Answer::bins', array(hex2bin($case[1]))), 'bins');
        });
        $runner->test("aerospike: $title, cut anywhere or with a byte more, is refused", function () use ($driver, $case, $spaces) {
            $frame = hex2bin($case[1]);
            for ($length = 30; $length < strlen($frame); ++$length) {
                $driver->refused('the reply', 'static', $spaces . 'Answer::bins', array(substr($frame, 0, $length)));
            }
            $driver->refused('bytes after its last bin', 'static', $spaces . 'Answer::bins', array($frame . "\0"));
        });
        $changing = "aerospike: $title, with any byte changed, is read or refused, never more";
        $runner->test($changing, function () use ($call, $driver, $case, $spaces) {
            $frame = hex2bin($case[1]);
            for ($at = 26; $at < strlen($frame); ++$at) {
                foreach (array(0x00, 0x7f, 0x80, 0xff) as $byte) {
                    $changed = substr_replace($frame, chr($byte), $at, 1);
                    try {
                        Failure::unless(is_array($call('Answer::bins', array($changed))), 'no bins');
                    } catch (Failure $failure) {
                        $driver->refused('reply', 'static', $spaces . 'Answer::bins', array($changed));
                    }
                }
            }
        });
    }

    $runner->test('aerospike: msgpack has the shortest forms, and comes back', function () use ($call) {
        $forms = array(
            array('00', 0), array('7f', 127), array('cc80', 128), array('ccff', 255), array('cd0100', 256),
            array('cdffff', 65535), array('ce00010000', 65536), array('ceffffffff', 4294967295),
            array('cf0000000100000000', 4294967296), array('cf7fffffffffffffff', PHP_INT_MAX),
            array('ff', -1), array('e0', -32), array('d0df', -33), array('d080', -128), array('d1ff7f', -129),
            array('d18000', -32768), array('d2ffff7fff', -32769), array('d280000000', -2147483648),
            array('d3ffffffff7fffffff', -2147483649), array('d38000000000000000', PHP_INT_MAX * -1 - 1),
            array('c0', null), array('c2', false), array('c3', true), array('cbbff8000000000000', -1.5),
            array('a103', ''), array('a20361', 'a'), array('bf03' . str_repeat('61', 30), str_repeat('a', 30)),
            array('d92003' . str_repeat('61', 31), str_repeat('a', 31)), array('d9ff03' . str_repeat('61', 254), str_repeat('a', 254)),
            array('da010003' . str_repeat('61', 255), str_repeat('a', 255)), array('90', array()), array('9101', array(1)),
            array('9f' . str_repeat('00', 15), array_fill(0, 15, 0)), array('dc0010' . str_repeat('00', 16), array_fill(0, 16, 0)),
            array('dd00010000' . str_repeat('00', 65536), array_fill(0, 65536, 0)), array('810100', array(1 => 0)),
            array('81a2036b91c0', array('k' => array(null))), array('82a2036101a2036202', array('a' => 1, 'b' => 2)),
            array('db0001000003' . str_repeat('61', 65535), str_repeat('a', 65535)),
        );
        foreach ($forms as $form) {
            Failure::unlessSame($form[0], bin2hex($call('Packer::pack', array($form[1]))), 'packed ' . substr($form[0], 0, 20));
            Failure::unlessSame($form[1], $call('Unpacker::unpack', array(hex2bin($form[0]))), 'unpacked ' . substr($form[0], 0, 20));
        }
        foreach (array(array('de0010', '0000'), array('df00010000', '000000')) as $many) {
            $map = array_fill(1, hexdec(substr($many[0], 2)), false);
            $packed = bin2hex($call('Packer::pack', array($map)));
            Failure::unlessSame($many[0] . '01c202c2', substr($packed, 0, strlen($many[0]) + 8), 'a large map');
            Failure::unlessSame($map, $call('Unpacker::unpack', array(hex2bin($packed))), 'a large map');
        }
        Failure::unlessSame(1.5, $call('Unpacker::unpack', array(hex2bin('ca3fc00000'))), 'a float of 4 bytes');
        Failure::unlessSame(array("\0b"), $call('Unpacker::unpack', array(hex2bin('91a3040062'))), 'a blob in a list');
    });

    $hostile = array(
        'nothing' => array('', 'truncated'),
        'a list cut short' => array('9201', 'more than its bytes'),
        'a list of four billions' => array('ddffffffff00', '4294967295 parts'),
        'a map of four billions' => array('dfffffffff0000', '4294967295 parts'),
        'a text of four billions' => array('dbffffffff03', 'truncated'),
        'a length cut short' => array('db00', 'truncated'),
        'a text without type' => array('a0', 'unknown type 0'),
        'a text of a strange type' => array('a21761', 'unknown type 23'),
        'an integer over 63 bits' => array('cfffffffffffffffff', 'over 63 bits'),
        'a byte too many' => array('0101', 'ends before'),
        'a tag that is none' => array('c1', 'tag 0xc1'),
        'an extension alone' => array('c70001', 'tag 0xc7'),
        'a list of an extension cut short' => array('91c9ffffffff', 'truncated'),
        'a map with a list for a key' => array('819000', 'key of type array'),
        'a map with a null for a key' => array('81c000', 'key of type NULL'),
        'a map with a key twice' => array('8201000100', 'the same in PHP'),
        'a map with 1 and "1"' => array('820100a2033100', 'the same in PHP'),
        'lists nested a million deep' => array(str_repeat('91', 1000000), 'deep'),
        'maps nested a thousand deep' => array(str_repeat('8101', 1000), 'deep'),
    );
    foreach ($hostile as $title => $case) {
        $runner->test("aerospike: $title is refused", function () use ($driver, $case, $spaces) {
            $driver->refused($case[1], 'static', $spaces . 'Unpacker::unpack', array(hex2bin($case[0])));
        });
    }

    $deep = array();
    for ($i = 0; $i < 70; ++$i) {
        $deep = array($deep);
    }
    $unfit = array(
        'an object' => array(new stdClass(), 'object'),
        'a null' => array(null, 'no such bin'),
        'a bin that is null' => array(array('a' => 1, 'b' => null), 'bin `b`'),
        'an object in a list' => array(array(array(new stdClass())), 'object'),
        'a bin with a long name' => array(array('abcdefghijklmnop' => 1), '1 to 15 bytes'),
        'a bin without name' => array(array('' => 1), '1 to 15 bytes'),
        'what is nested too deep' => array($deep, '64 deep'), 'the bin of single values' => array(array('v' => 1), 'read back'),
        'too many bins' => array(array_fill(1, 32768, 0), '32767 bins'),
    );
    foreach ($unfit as $title => $case) {
        $runner->test("aerospike: $title cannot be stored, which is told", function () use ($driver, $case) {
            $driver->refused($case[1], 'put frame', array('weigh', 'weigh', 1000), 'key', $case[0]);
        });
    }
    $runner->test('aerospike: all this leaves nothing on stderr', function () use ($driver) {
        $driver->end();
    });
};
