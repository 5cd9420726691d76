<?php
/** Aerospike's wire driver against a scripted server on the loopback address, which also fails in every way. */

return function (Runner $runner, Lab $lab, $binary) {
    $peer = new StorePeer($lab->folder, 'aerospike');
    $driver = new StoreDriver($binary, $lab->folder, 'aerospike', 'wire');
    $address = array('host' => '127.0.0.1', 'port' => $peer->port, 'namespace' => 'test');
    $open = function ($timeout = 20.0) use ($peer, $driver, $address) {
        $peer->tell(array('next' => array(), 'requests' => true));
        $driver->ask('open', $address, $timeout);
    };
    $deeds = function (array $deeds) use ($peer) {
        $peer->tell(array('next' => $deeds));
    };
    $record = array(
        'name' => 'grüße', 'price' => -12.5, 'count' => PHP_INT_MAX, 'yes' => true, 'no' => false, 'text' => '', 5 => 'five',
        'list' => array(1, array(), array('a' => null), 'x', -1.5), 'map' => array('b' => array(2 => 'two'), 'a' => str_repeat('z', 70000)),
    );

    $runner->test('aerospike: the driver says what it is', function () use ($driver) {
        $entry = $driver->ask('describe');
        Failure::unlessSame(null, $entry['missing'], 'missing');
        Failure::unlessSame(array('integer', 'text', 'record'), $entry['native'], 'native');
        Failure::unlessSame(array('tcp'), $entry['schemes'], 'schemes');
        Failure::unless(preg_match('/client in PHP \d+\.\d+/', $entry['library']) === 1, $entry['library']);
    });

    $values = array(
        'an integer' => -5, 'zero' => 0, 'a text' => "any\0bytes\xff", 'an empty text' => '', 'a long text' => str_repeat("\x9c7", 1500000),
        'a double' => 1e-300, 'true' => true, 'false' => false, 'a list' => array(1, 'a', array('k' => 2.5)), 'an empty list' => array(),
        'a record' => $record, 'a record of one bin' => array('only' => array('a' => 1)),
    );
    foreach ($values as $title => $value) {
        $runner->test("aerospike: $title is stored and read back", function () use ($open, $driver, $value) {
            $open();
            $driver->ask('put', 'key', $value);
            Failure::unless($driver->ask('get', 'key') === $value, 'another value came back');
            Failure::unlessSame('8.1.2.0', $driver->ask('server'), 'server');
        });
    }

    $runner->test('aerospike: a key without record gives null, a removed one too', function () use ($open, $driver) {
        $open();
        Failure::unlessSame(null, $driver->ask('get', 'never'), 'never written');
        $driver->ask('put', 'once', 1);
        $driver->ask('put', 'other', 2);
        Failure::unlessSame(array(true, false), array($driver->ask('remove', 'once'), $driver->ask('remove', 'once')), 'removed');
        Failure::unlessSame(array(null, 2), array($driver->ask('get', 'once'), $driver->ask('get', 'other')), 'read');
    });

    $runner->test('aerospike: a write asks to replace the whole record, within the time limit', function () use ($open, $driver, $peer) {
        $open(2.5);
        $driver->ask('put', 'key', array('a' => 1, 'b' => 2));
        $requests = $peer->tell(array('requests' => true))['requests'];
        Failure::unlessSame('16000110', substr($requests[0], 16, 8), 'flags');
        Failure::unlessSame(sprintf('%08x', 2500), substr($requests[0], 44, 8), 'milliseconds');
    });

    $codes = array(
        1 => 'server error', 8 => 'out of space or server memory', 9 => 'server timeout', 11 => 'partition unavailable',
        13 => 'record too big', 14 => 'hot key', 18 => 'device overload', 20 => 'invalid namespace', 22 => 'forbidden',
        80 => 'not authenticated', 255 => 'unknown failure',
    );
    foreach ($codes as $code => $name) {
        $title = "aerospike: result code $code is told as `$name`, and the next operation goes on";
        $runner->test($title, function () use ($open, $deeds, $driver, $code, $name) {
            $open();
            $driver->ask('put', 'key', 1);
            $deeds(array_fill(0, 3, array('code' => $code)));
            foreach (array(array('put', 'key', 2), array('get', 'key'), array('remove', 'key')) as $operation) {
                $line = "$operation[0]: $name (result code $code)";
                $failed = call_user_func_array(array($driver, 'refused'), array_merge(array($line), $operation));
                Failure::unlessSame('response', $failed['kind'], 'kind: the connection goes on');
                Failure::unlessSame(!in_array($code, array(1, 255), true), $failed['remedy'] !== null, 'whether there is a remedy');
            }
            Failure::unlessSame(1, $driver->ask('get', 'key'), 'the value from before');
        });
    }

    $runner->test('aerospike: answers one byte at a time are whole in the end', function () use ($open, $deeds, $driver, $record) {
        $open();
        $small = array_merge($record, array('map' => array('a' => 1)));
        $deeds(array_fill(0, 5, array('split' => true)));
        $driver->ask('put', 'key', $small);
        Failure::unlessSame($small, $driver->ask('get', 'key'), 'value');
        Failure::unlessSame(null, $driver->ask('get', 'never'), 'none');
        $driver->ask('put', 'key', 3);
        Failure::unlessSame(3, $driver->ask('get', 'key'), 'value');
    });

    $short = array(0, 1, 7, 8, 9, 29, 30, 40);
    foreach (array('keep' => 'the connection was closed', 'stall' => '0.2 s passed') as $deed => $words) {
        $title = "aerospike: an answer cut short is a failure: $words";
        $runner->test($title, function () use ($open, $deeds, $driver, $short, $deed, $words) {
            foreach ($short as $length) {
                $open($deed === 'keep' ? 20.0 : 0.2);
                $driver->ask('put', 'key', 1);
                $deeds(array(array($deed => $length)));
                Failure::unlessSame('broken', $driver->refused($words, 'get', 'key')['kind'], 'kind: the connection is closed');
                $driver->refused('closed after a failure', 'get', 'key');
            }
        });
    }

    $runner->test('aerospike: a long answer that stops in its midst is a failure', function () use ($open, $deeds, $driver) {
        foreach (array(array('keep', 20.0, 'the connection was closed'), array('stall', 0.5, '0.5 s passed')) as $case) {
            $open($case[1]);
            $driver->ask('put', 'key', str_repeat('x', 300000));
            $deeds(array(array($case[0] => 200000)));
            $driver->refused($case[2], 'get', 'key');
        }
    });

    $head = '0203';
    $empty = '1600000000' . '00' . str_repeat('00', 16);
    $one = '16' . str_repeat('00', 19) . '0001';
    $two = '16' . str_repeat('00', 19) . '0002';
    $field = '16' . str_repeat('00', 17) . '00010000';
    $raw = array(
        'what is no answer' => array(bin2hex("HTTP/1.1 400 Bad Request\r\n\r\n"), 'not a reply of Aerospike'),
        'an answer of another version' => array('0103000000000016' . $empty, 'not a reply of Aerospike'),
        'an answer of the info protocol' => array('0201000000000016' . $empty, 'not a reply of Aerospike'),
        'a compressed answer' => array('0204000000000016' . $empty, 'not a reply of Aerospike'),
        'an answer over the limit' => array($head . '000008000001', 'longer than 134217728'),
        'an answer of 2^48 bytes' => array($head . 'ffffffffffff', 'longer than 134217728'),
        'an empty answer' => array($head . '000000000000', 'no header of 22 bytes'),
        'an answer shorter than its header' => array($head . '000000000015' . substr($empty, 2), 'no header of 22 bytes'),
        'a header of another length' => array($head . '000000000016' . '17' . substr($empty, 2), 'no header of 22 bytes'),
        'a bin longer than the answer' => array($head . '00000000001f' . $one . '7fffffff0101000176', '2147483647 bytes'),
        'a bin shorter than its head' => array($head . '00000000001e' . $one . '0000000301010000', 'of 3 bytes'),
        'a name longer than its bin' => array($head . '00000000001e' . $one . '00000004010100ff', 'name or flags'),
        'an integer of 4 bytes' => array($head . '000000000023' . $one . '0000000901010001760000' . '0001', 'type 1 with 4 bytes'),
        'a bin of a strange type' => array($head . '00000000001f' . $one . '000000050163000176', 'unknown type 99'),
        'a list that is a number' => array($head . '000000000020' . $one . '00000006011400017607', 'with another value'),
        'more bins counted than there are' => array($head . '000000000016' . $one, 'truncated'),
        'a bin that was not counted' => array($head . '00000000001f' . $empty . '000000050103000176', 'bytes after its last bin'),
        'a bin twice' => array($head . '000000000028' . $two . str_repeat('000000050103000176', 2), 'twice'),
        'a field longer than the answer' => array($head . '00000000001b' . $field . 'ffffffff00', '4294967295 bytes'),
    );
    foreach ($raw as $title => $case) {
        $runner->test("aerospike: $title is refused, and the connection given up", function () use ($open, $deeds, $driver, $case) {
            $open();
            $deeds(array(array('raw' => $case[0])));
            $driver->refused($case[1], 'get', 'key');
            $driver->refused('closed after a failure', 'get', 'key');
        });
    }

    $runner->test('aerospike: fields before the bins are passed over', function () use ($open, $deeds, $driver) {
        $open();
        $body = '16' . str_repeat('00', 17) . '00020001' . '000000050074657374' . '0000000104' . '0000000d0101000176' . '0000000000000009';
        $deeds(array(array('raw' => '0203' . sprintf('%012x', strlen($body) / 2) . $body)));
        Failure::unlessSame(9, $driver->ask('get', 'key'), 'value');
    });

    $runner->test('aerospike: the record of another is given as it is', function () use ($open, $driver, $deeds) {
        $open();
        $driver->ask('put', 'key', 1);
        $other = '16' . str_repeat('00', 19) . '0001' . '0000000d0101000176' . '00000000000000ff';
        $deeds(array(array('raw' => '0203' . '000000000027' . $other)));
        Failure::unlessSame(255, $driver->ask('get', 'key'), 'the other value');
        Failure::unlessSame(1, $driver->ask('get', 'key'), 'the next answer');
    });

    $runner->test('aerospike: every answer has the whole time limit', function () use ($open, $deeds, $driver) {
        $open(2.0);
        $deeds(array(array('pause' => 9, 'split' => true), array('pause' => 0)));
        $driver->ask('put', 'key', 1);
        Failure::unlessSame(1, $driver->ask('get', 'key'), 'value');
    });

    $runner->test('aerospike: two answers to one request are a failure', function () use ($open, $deeds, $driver) {
        $open();
        $deeds(array(array('extra' => '0203000000000016' . '1600000000' . '02' . str_repeat('00', 16))));
        $driver->refused('bytes after the reply', 'put', 'key', 1);
        $driver->refused('closed after a failure', 'get', 'key');
    });

    $runner->test('aerospike: a server that reads no more is a failure in time', function () use ($open, $deeds, $driver) {
        $open(0.5);
        $deeds(array(array('deaf' => true)));
        $driver->ask('put', 'key', 1);
        $driver->refused('passed before the server', 'put', 'key', str_repeat('x', 40000000));
    });

    $runner->test('aerospike: after a failure a new connection goes on', function () use ($open, $deeds, $driver) {
        $open();
        $deeds(array(array('keep' => 3)));
        $driver->refused('127.0.0.1:', 'put', 'key', 1);
        $open();
        $driver->ask('put', 'key', 1);
        Failure::unlessSame(1, $driver->ask('get', 'key'), 'value');
        $driver->ask('close');
        $driver->ask('close');
        $driver->refused('closed after a failure', 'get', 'key');
    });
    $runner->test('aerospike: the driver and the scripted server leave nothing on stderr', function () use ($driver, $peer) {
        $driver->end();
        $peer->end();
    });
};
