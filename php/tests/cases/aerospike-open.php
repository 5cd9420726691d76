<?php
/** Opening an Aerospike store: what the server tells of itself, wrong addresses, the extension, a real server. */

return function (Runner $runner, Lab $lab, $binary) {
    $peer = new StorePeer($lab->folder, 'aerospike');
    $driver = new StoreDriver($binary, $lab->folder, 'aerospike', 'wire');
    $address = array('host' => '127.0.0.1', 'port' => $peer->port, 'namespace' => 'test');
    $info = array('build' => '8.1.2.0', 'namespaces' => 'bar;test', 'peers-clear-std' => '0,3000,[]');

    $refused = array(
        'no namespace' => array(array('namespace' => null), 'lacks namespace'),
        'an empty namespace' => array(array('namespace' => ''), '1 to 31 letters'),
        'a namespace with the end of a line' => array(array('namespace' => "test\n"), '1 to 31 letters'),
        'a namespace that is too long' => array(array('namespace' => str_repeat('n', 32)), '1 to 31 letters'),
        'a namespace that the server has not' => array(array('namespace' => 'tes'), 'has no namespace `tes`'),
        'no port' => array(array('port' => 0), 'can have the address'),
        'a user' => array(array('user' => 'me', 'password' => 'secret'), 'cannot sign in'),
        'a port where nothing listens' => array(array('port' => 1), 'cannot connect: (Connection refused)'),
    );
    foreach ($refused as $title => $case) {
        $runner->test("aerospike: $title is refused", function () use ($driver, $address, $case) {
            $wrong = array_filter(array_merge($address, $case[0]), function ($part) {
                return $part !== null;
            });
            $failed = $driver->refused($case[1], 'open', $wrong, 5.0);
            Failure::unless(strpos($failed['message'], 'secret') === false, 'the password is in the message');
        });
    }

    $runner->test('aerospike: one of several servers is refused', function () use ($peer, $driver, $address, $info) {
        $peer->tell(array('info' => array('peers-clear-std' => '2,3000,[[BB9,,[10.0.0.2]]]') + $info));
        $driver->refused('part of a cluster', 'open', $address, 5.0);
    });

    $runner->test('aerospike: a server that tells nothing of itself is taken', function () use ($peer, $driver, $address) {
        $error = 'ERROR:80:not authenticated';
        foreach (array(array('none' => ''), array('build' => $error, 'namespaces' => $error)) as $told) {
            $peer->tell(array('info' => $told));
            $driver->ask('open', $address, 5.0);
            Failure::unlessSame(null, $driver->ask('server'), 'server');
            $driver->ask('put', 'key', 1);
        }
    });

    $broken = array(
        'that greets like a web server' => array(array('raw' => bin2hex("HTTP/1.1 400 Bad Request\r\n\r\n")), 'not a reply of Aerospike'),
        'that hangs up' => array(array('keep' => 0), 'the connection was closed'),
        'that says nothing' => array(array('stall' => 0), '0.3 s passed'),
        'that answers as if to another request' => array(array('raw' => '0203000000000000'), 'not a reply of Aerospike'),
    );
    foreach ($broken as $title => $case) {
        $runner->test("aerospike: a server $title is refused", function () use ($peer, $driver, $address, $info, $case) {
            $peer->tell(array('info' => $info, 'next' => array($case[0])));
            $driver->refused($case[1], 'open', $address, 0.3);
        });
    }

    $runner->test('aerospike: greetings one byte at a time, or of nothing, are taken', function () use ($peer, $driver, $address, $info) {
        foreach (array(array('split' => true), array('raw' => '0201000000000000')) as $deed) {
            $peer->tell(array('info' => $info, 'next' => array($deed)));
            $driver->ask('open', $address, 20.0);
            $driver->ask('put', 'key', 1);
        }
    });
    $runner->test('aerospike: wrong openings leave nothing on stderr', function () use ($driver, $peer) {
        $driver->end();
        $peer->end();
    });

    $runner->test('aerospike: a PHP without the extension says so', function () use ($binary, $lab) {
        $extension = new StoreDriver($binary, $lab->folder, 'aerospike', 'extension');
        $entry = $extension->ask('describe');
        if ($entry['missing'] === null) {
            throw new Skip('this PHP has the extension', true);
        }
        Failure::unlessSame(null, $entry['library'], 'library');
        Failure::unless(strpos($entry['missing'], 'aerospike extension is not loaded') !== false, $entry['missing']);
        $extension->end();
    });

    $double = dirname(__DIR__) . '/peers/AerospikeClass.php';
    $runner->test('aerospike: the extension is driven by its documented interface', function () use ($binary, $lab, $double, $address) {
        $extension = new StoreDriver($binary, $lab->folder, 'aerospike', 'extension', $double);
        Failure::unlessSame(null, $extension->ask('describe')['missing'], 'missing');
        $extension->refused('cannot connect: client code -1: nothing there', 'open', array('host' => 'nowhere') + $address, 1.5);
        $extension->ask('open', $address + array('user' => 'me', 'password' => 'secret'), 1.5);
        Failure::unlessSame('6.4.0.1', $extension->ask('server'), 'server');
        foreach (array(5, "a\0text", array('a' => 1, 'b' => array('c' => 2)), array(1, 2)) as $value) {
            $extension->ask('put', 'key', $value);
            Failure::unlessSame($value, $extension->ask('get', 'key'), 'value');
        }
        Failure::unlessSame(null, $extension->ask('get', 'never'), 'never written');
        Failure::unlessSame(array(true, false), array($extension->ask('remove', 'key'), $extension->ask('remove', 'key')), 'removed');
        $extension->refused('read back', 'put', 'key', array('v' => 1));
        $failed = $extension->refused('put: record too big (result code 13): too big for me', 'put', 'big', 1);
        Failure::unlessSame('response', $failed['kind'], 'kind: the connection goes on');
        $extension->ask('close');
        $extension->end();
    });

    $runner->test('aerospike: a real server keeps every kind of value', function () use ($binary, $lab) {
        if (!preg_match('~^(\S+):(\d+)/(\S+)$~', (string) getenv('WEIGH_AEROSPIKE'), $match)) {
            throw new Skip('WEIGH_AEROSPIKE names no server, as HOST:PORT/NAMESPACE', true);
        }
        $real = new StoreDriver($binary, $lab->folder, 'aerospike', 'wire');
        $real->ask('open', array('host' => $match[1], 'port' => (int) $match[2], 'namespace' => $match[3]), 5.0);
        $key = 'weigh-test:' . getmypid();
        $record = array('i' => -1, 't' => 'text', 'd' => 0.1, 'b' => false, 'l' => array(1, array('x' => null)));
        // The server keeps the keys of a map sorted.
        $record['m'] = array(2 => 'two', 'a' => 1, 'b' => array());
        foreach (array(7, "any\0bytes\xff", str_repeat('x', 1000000), $record, array(1, 'b'), true, 1.5) as $value) {
            $real->ask('put', $key, $value);
            Failure::unless($real->ask('get', $key) === $value, 'another value came back than ' . substr(json_encode($value), 0, 80));
        }
        $after = array($real->ask('remove', $key), $real->ask('get', $key), $real->ask('remove', $key));
        Failure::unlessSame(array(true, null, false), $after, 'removal');
        $real->refused('result code 13', 'put', $key, str_repeat('x', 9000000));
        $real->end();
    });
};
