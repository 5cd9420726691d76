<?php
/** What client workers do with requests, addresses and stores that are not as they should be: one clear fault each. */

return function (Runner $runner, Lab $lab) {
    $stores = new StoreLab($lab);
    $worker = $stores->start();
    $folder = $lab->folder->name();
    mkdir($folder, 0700);
    $files = function (array $other) use ($folder) {
        return StoreLab::prepare('files', 'files', array('folder' => $folder), $other);
    };
    $gz = array('serializer' => 'serialize', 'codec' => 'gzdeflate', 'level' => 6, 'options' => new stdClass());
    $cases = array(
        'go before prepare' => array('parameter', 'go without a prepare', array('id' => 2, 'op' => 'go')),
        'an unknown op' => array('parameter', 'use describe, prepare, go or clean', array('id' => 2, 'op' => 'visit')),
        'an unknown store' => array('parameter', 'known stores: ', StoreLab::prepare('rediss', 'socket', array())),
        'an unknown driver' => array('parameter', 'known: phpredis, socket', StoreLab::prepare('redis', 'predis', array())),
        'no keys' => array('parameter', 'lacks `keys`', $files(array('keys' => null))),
        'unknown keys' => array('parameter', 'unknown kind of keys', $files(array('keys' => array('kind' => 'gauss')))),
        'no key at all' => array('parameter', '`count`', $files(array('keys' => array('kind' => 'uniform', 'count' => 0)))),
        'too many keys' => array('parameter', 'too large', $files(array('keys' => array('kind' => 'uniform', 'count' => 1e12)))),
        'new keys without writes' => array('parameter', 'made by writes', $files(array('keys' => array('kind' => 'new'), 'write_every' => 0))),
        'a prefix with a line end' => array('parameter', 'prefix', $files(array('prefix' => "a\r\nflush_all"))),
        'a worker too many' => array('parameter', 'counted from 0', $files(array('worker' => 1))),
        'an unknown kind of value' => array('parameter', 'unknown kind of value', $files(array('value' => array('kind' => 'blob')))),
        'a record too large' => array('parameter', 'too large', $files(array('value' => array('kind' => 'record', 'bins' => 1e9)))),
        'a value that is not there' => array(
            'payload', 'not a readable file', $files(array('value' => array('kind' => 'text', 'blob' => '/nonexistent', 'sha256' => ''))),
        ),
        'a value of another class' => array(
            'payload', 'other classes', $files(array('value' => $stores->value('value', serialize(new ArrayObject())))),
        ),
        'an unknown codec' => array('parameter', 'unknown codec', $files(array('encode' => array('codec' => 'gzdefalte') + $gz))),
        'a record without a serializer' => array(
            'parameter', 'give a serializer', $files(array('encode' => array('serializer' => null) + $gz, 'value' => array('kind' => 'record', 'bins' => 3))),
        ),
        'no folder' => array('parameter', 'needs one of folder', StoreLab::prepare('files', 'files', array())),
        'a folder that is not there' => array('response', 'not a writable folder', StoreLab::prepare('files', 'files', array('folder' => '/nonexistent'))),
        'a database of files' => array('parameter', 'takes no database', StoreLab::prepare('files', 'files', array('folder' => $folder, 'database' => '1'))),
        'a host without a port' => array('parameter', 'needs a port', StoreLab::prepare('redis', 'socket', array('host' => '127.0.0.1'))),
        'no transactions' => array('parameter', '`transactions`', $files(array('transactions' => 0))),
        'a rate of nothing' => array('parameter', '`rate`', $files(array('rate' => 0))),
    );
    foreach ($cases as $title => $case) {
        $runner->test("client: $title is a fault, and the worker goes on", function () use ($worker, $case) {
            $reply = $worker->ask($case[2]);
            Failure::unlessSame(2, $reply['id'], 'id');
            Failure::unlessFault($reply, $case[0], $case[1]);
        });
    }
    $runner->test('after all those faults the same worker carries out a block', function () use ($worker, $files, $folder) {
        Failure::unlessSame(true, $worker->ask($files(array()))['ready'], 'ready');
        Failure::unlessSame(40, $worker->ask(array('id' => 3, 'op' => 'go'))['writes']['count'], 'writes');
        $modes = array();
        foreach (glob("$folder/*") as $file) {
            $modes[] = fileperms($file) & 0777;
        }
        Failure::unlessSame(array(0600), $modes, 'modes of the files');
        Failure::unlessSame(1, $worker->ask(array('id' => 4, 'op' => 'clean'))['removed'], 'removed');
        Failure::unlessSame(array('.', '..'), scandir($folder), 'what is left');
        Failure::unlessFault($worker->ask(array('id' => 5, 'op' => 'go')), 'parameter', 'prepare again');
    });

    $prepare = function ($store, $name, array $address, array $other = array()) use ($stores) {
        $stores->need($store, $name);
        $client = $stores->start();
        $reply = $client->ask(StoreLab::prepare($store, $name, $address, $other + array('timeout' => 2.0)));
        $client->end();
        return $reply;
    };
    foreach (array('phpredis', 'socket', 'symfony') as $name) {
        $runner->test("redis by $name: logging in and databases", function () use ($prepare, $lab, $name) {
            $server = Server::redis($lab, array('--requirepass', 'se cret', '--databases', '4'));
            $at = array('unix' => $server->socket);
            $faults = array(
                'NOAUTH' => $at, 'WRONGPASS' => $at + array('password' => 'guess'),
                'wrongpass' => $at + array('user' => 'nobody', 'password' => 'se cret'),
                'DB index is out of range' => $at + array('password' => 'se cret', 'database' => '99'),
            );
            foreach ($faults as $message => $address) {
                $reply = $prepare('redis', $name, $address);
                Failure::unlessFault($reply, 'response', $message);
                Failure::unless(strpos(json_encode($reply), 'guess') === false, 'the password is told');
                Failure::unless(strpos($reply['fault']['remedy'], 'in the URL') !== false, 'remedy');
            }
            foreach (array(array(), array('user' => 'default'), array('database' => '3')) as $more) {
                $reply = $prepare('redis', $name, $at + array('password' => 'se cret') + $more);
                Failure::unless(isset($reply['ready']), json_encode($reply));
            }
            $server->end();
        });
        $runner->test("redis by $name: a full server is a fault that says so", function () use ($prepare, $stores, $lab, $name) {
            $server = Server::redis($lab, array('--maxmemory', '1mb', '--maxmemory-policy', 'noeviction'));
            $value = $stores->value('text', Lab::noise(100000));
            $reply = $prepare('redis', $name, array('unix' => $server->socket), array('value' => $value, 'keys' => array('kind' => 'uniform', 'count' => 50)));
            Failure::unlessFault($reply, 'response', 'OOM command not allowed');
            Failure::unless(strpos($reply['fault']['remedy'], 'maxmemory') !== false, 'remedy');
            $server->end();
        });
        $runner->test("redis by $name: a server that dies in mid-run ends the run, not the worker", function () use ($stores, $lab, $name) {
            $stores->need('redis', $name);
            $server = Server::redis($lab);
            $client = $stores->start();
            // Due for half a minute: the server is killed long before.
            $other = array('rate' => 200.0, 'transactions' => 6000, 'timeout' => 0.5);
            $ready = $client->ask(StoreLab::prepare('redis', $name, array('unix' => $server->socket), $other));
            Failure::unless(isset($ready['ready']), json_encode($ready));
            $client->send(array('id' => 3, 'op' => 'go'));
            usleep(200000);
            $server->end();
            $went = $client->receive();
            Failure::unless(strpos((string) $went['aborted'], 'failures in a row') !== false, 'aborted: ' . json_encode($went['aborted']));
            Failure::unless($went['faults'] && $went['reads']['hits'] > 0 && $went['dropped'] > 5000, json_encode($went['faults']));
            Failure::unlessSame(0, $went['reads']['misses'] + $went['reads']['wrong'], 'misses and wrong values');
            Failure::unlessFault($client->ask(array('id' => 4, 'op' => 'clean')), 'response', '');
            list($code) = $client->end();
            Failure::unlessSame(0, $code, 'exit code');
        });
    }

    foreach (array('php-memcached', 'socket') as $name) {
        $runner->test("memcached by $name: a value over the limit is one clear fault", function () use ($prepare, $stores, $lab, $name) {
            $server = Server::memcached($lab);
            $value = $stores->value('text', Lab::noise(3000000));
            $reply = $prepare('memcached', $name, array('unix' => $server->socket), array('value' => $value));
            Failure::unlessFault($reply, 'response', 'over the server\'s limit');
            Failure::unless(strpos($reply['fault']['remedy'], '-I') !== false, 'remedy');
            $server->end();
        });
        $runner->test("memcached by $name: what was evicted is a miss", function () use ($stores, $lab, $name) {
            $stores->need('memcached', $name);
            $server = Server::memcached($lab, array('-m', '2'));
            $value = $stores->value('text', Lab::noise(50000));
            $other = array('value' => $value, 'keys' => array('kind' => 'uniform', 'count' => 400), 'write_every' => 0);
            $client = $stores->start();
            $ready = $client->ask(StoreLab::prepare('memcached', $name, array('unix' => $server->socket), $other));
            // The first key filled is the one read back, and it may be gone too.
            if (!isset($ready['ready'])) {
                Failure::unlessFault($ready, 'round-trip', 'gave nothing');
            } else {
                $went = $client->ask(array('id' => 3, 'op' => 'go'));
                Failure::unless($went['reads']['misses'] > 0 && $went['reads']['wrong'] === 0, json_encode($went['reads']));
            }
            $client->end();
            $server->end();
        });
    }
    $runner->test('memcached by socket: logging in', function () use ($prepare, $lab) {
        $server = Server::memcached($lab, array('-Y', $lab->folder->file("weigh:secret\n")));
        $at = array('unix' => $server->socket, 'user' => 'weigh');
        Failure::unlessFault($prepare('memcached', 'socket', array('unix' => $server->socket)), 'response', 'authentication');
        Failure::unlessFault($prepare('memcached', 'socket', $at + array('password' => 'guess')), 'response', 'authentication failure');
        $reply = $prepare('memcached', 'socket', $at + array('password' => 'secret'));
        Failure::unless(isset($reply['ready']), json_encode($reply));
        $server->end();
    });

    $nobody = array('redis' => array('phpredis', 'socket', 'symfony'), 'memcached' => array('php-memcached', 'socket'));
    foreach ($nobody as $store => $names) {
        foreach ($names as $name) {
            $runner->test("$store by $name: nobody at the address is a fault that names it", function () use ($prepare, $lab, $store, $name) {
                $path = $lab->folder->name();
                $reply = $prepare($store, $name, array('unix' => $path));
                Failure::unlessFault($reply, 'response', "$store by $name: ");
                Failure::unless(strpos($reply['fault']['message'], $path) !== false, $reply['fault']['message']);
                $port = (int) substr(strrchr(stream_socket_get_name(stream_socket_server('tcp://127.0.0.1:0'), false), ':'), 1);
                Failure::unlessFault($prepare($store, $name, array('host' => '127.0.0.1', 'port' => $port)), 'response', (string) $port);
            });
        }
    }

    $runner->test('stores by TCP', function () use ($stores, $lab) {
        $probe = stream_socket_server('tcp://127.0.0.1:0');
        $port = (int) substr(strrchr(stream_socket_get_name($probe, false), ':'), 1);
        fclose($probe);
        $server = Server::redis($lab, array('--port', (string) $port, '--bind', '127.0.0.1'));
        foreach (array('socket', 'phpredis') as $name) {
            if ($stores->driver('redis', $name)['missing'] === null) {
                $address = array('host' => '127.0.0.1', 'port' => $port);
                StoreLab::unlessConsistent($stores->block(StoreLab::prepare('redis', $name, $address))[1], 400);
            }
        }
        $server->end();
    });

    $runner->test('every driver is described: a library with a version, or a reason and a remedy', function () use ($stores) {
        $client = $stores->start();
        $reply = $client->ask(array('id' => 9, 'op' => 'describe'));
        $client->end();
        Failure::unlessSame(array(9, 1, 'php'), array($reply['id'], $reply['protocol'], $reply['runtime']), 'head');
        $found = array();
        foreach ($reply['drivers'] as $driver) {
            $found[] = "{$driver['store']}/{$driver['name']}";
            $told = $driver['missing'] === null ? preg_match('/\d/', (string) $driver['library']) === 1 : $driver['remedy'] !== null;
            Failure::unless($told, json_encode($driver));
        }
        $files = array();
        foreach (glob(dirname(dirname(dirname(__DIR__))) . '/stores/*/drivers/*.php') as $file) {
            $files[] = basename(dirname(dirname($file))) . '/' . basename($file, '.php');
        }
        Failure::unlessSame(array(), array_diff($files, $found), 'files that are not described');
        Failure::unless(isset($reply['facts']['jit'], $reply['facts']['opcache'], $reply['facts']['opcache.enable_cli']), 'facts');
        Failure::unlessSame($reply['facts'], array_filter($reply['facts'], 'is_string'), 'facts that are texts');
        Failure::unless(count($reply['codecs']) > 5 && count($reply['serializers']) > 2, 'codecs, serializers');
    });

    $runner->test('APCu that is switched off is missing, with the switch', function () use ($stores, $lab) {
        $stores->need('apcu', 'apcu');
        $client = $lab->start(dirname(dirname(__DIR__)), array('-d', 'apc.enable_cli=0'), 'client.php');
        Failure::unlessFault($client->ask(StoreLab::prepare('apcu', 'apcu', array())), 'missing', 'switched off');
        $client->end();
    });

    $runner->test('a store is added by its folder alone, and a broken driver is missing with the reason', function () use ($stores, $lab) {
        $copy = $lab->sourceWith(array());
        mkdir("$copy/stores/my-own/drivers", 0700, true);
        mkdir("$copy/stores/my-own/lib", 0700);
        file_put_contents("$copy/stores/my-own/lib/Store.php", '<?php namespace Weighbridge\\MyOwn; final class Store { private $held = array();
            function put($key, $value) { $this->held[$key] = $value; } function get($key) { return isset($this->held[$key]) ? $this->held[$key] : null; }
            function remove($key) { $there = isset($this->held[$key]); unset($this->held[$key]); return $there; } function server() { return null; } function close() {} }');
        file_put_contents("$copy/stores/my-own/drivers/memory.php", '<?php
            return array("about" => "an array", "library" => function () { return "array 1"; }, "missing" => function () { echo "noise"; return null; },
                "schemes" => array(), "native" => array(), "shared" => false, "open" => function () { return new Weighbridge\\MyOwn\\Store(); });');
        file_put_contents("$copy/stores/my-own/drivers/torn.php", '<?php return array("about" => "half");');
        $client = $stores->start($copy);
        Failure::unlessFault($client->ask(StoreLab::prepare('my-own', 'torn', array())), 'missing', 'its array lacks library, missing');
        Failure::unlessSame(true, $client->ask(StoreLab::prepare('my-own', 'memory', array()))['ready'], 'ready');
        StoreLab::unlessConsistent($client->ask(array('id' => 3, 'op' => 'go')), 400);
        Failure::unlessSame(1, $client->ask(array('id' => 4, 'op' => 'clean'))['removed'], 'removed');
        list(, $rest, $errors) = $client->end();
        Failure::unless($rest === '' && strpos($errors, 'php client: stray output: noise') !== false, "stderr: $errors");
    });
    $worker->end();
};
