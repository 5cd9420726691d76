<?php
/** Blocks of transactions against real stores, each with every driver: what is counted, stored and taken away. */

return function (Runner $runner, Lab $lab) {
    $stores = new StoreLab($lab);
    $servers = array();
    $address = function ($store) use (&$servers, $lab) {
        if ($store === 'apcu') {
            return array();
        }
        if ($store === 'files' && !isset($servers['files'])) {
            $servers['files'] = $lab->folder->name();
            mkdir($servers['files'], 0700);
        }
        if ($store === 'files') {
            return array('folder' => $servers['files']);
        }
        $kind = $store === 'memcached' ? 'memcached' : 'redis';
        if (!isset($servers[$kind])) {
            $servers[$kind] = Server::$kind($lab);
        }
        return array('unix' => $servers[$kind]->socket);
    };
    $left = function ($store) use (&$servers) {
        if ($store === 'files') {
            return count(scandir($servers['files'])) - 2;
        }
        return $store === 'apcu' || $store === 'memcached' ? 0 : (int) substr($servers['redis']->ask('DBSIZE'), 1);
    };
    $values = array(
        'integers' => array('kind' => 'integer'),
        'a record' => array('kind' => 'record', 'bins' => 12),
        'a text' => $stores->value('text', Lab::text(5000)),
        'bytes' => $stores->value('text', Lab::noise(20000) . "\r\n\0END\r\n"),
        'a value' => $stores->value('value', serialize(Lab::value())),
    );
    $instances = array();
    for ($i = 0; $i < 24; ++$i) {
        $instances[] = serialize(array('id' => $i, 'of' => Lab::value(), 'text' => Lab::text(200 + $i)));
    }
    $family = $stores->value('value', implode('', $instances)) + array('items' => array_map('strlen', $instances));
    $drivers = array(
        'redis' => array('phpredis', 'socket', 'symfony'), 'valkey' => array('phpredis', 'socket', 'symfony'),
        'memcached' => array('php-memcached', 'socket'), 'apcu' => array('apcu'), 'files' => array('files'),
    );
    $spread = array('kind' => 'zipf', 'count' => 50, 'exponent' => 0.99);
    foreach ($drivers as $store => $names) {
        foreach ($names as $name) {
            $run = function (array $other) use ($stores, $store, $name, $address, $left) {
                $stores->need($store, $name);
                $replies = $stores->block(StoreLab::prepare($store, $name, $address($store), $other));
                StoreLab::unlessConsistent($replies[1], 400);
                Failure::unlessSame(array(), $replies[1]['faults'], 'faults');
                Failure::unlessSame(array(0, 0), array($replies[1]['reads']['misses'], $replies[1]['reads']['wrong']), 'misses, wrong');
                Failure::unlessSame(0, $left($store), 'keys left behind');
                return $replies;
            };
            foreach ($store === 'valkey' ? array('integers' => $values['integers']) : $values as $title => $value) {
                $runner->test("$store by $name: $title, a write in ten", function () use ($run, $value, $spread) {
                    list($ready, $went, $clean) = $run(array('value' => $value, 'keys' => $spread));
                    Failure::unlessSame(array(40, 360), array($went['writes']['count'], $went['reads']['hits']), 'writes, hits');
                    Failure::unlessSame(50, $clean['removed'], 'removed');
                    Failure::unless(preg_match('/\d/', $ready['library']) === 1, "library: {$ready['library']}");
                    Failure::unlessSame(array(0, 0), array($went['encode_ns'], $went['decode_ns']), 'time of encoding');
                });
            }
            $mixes = array('reads alone' => array(0, 0, 400), 'writes alone' => array(1, 400, 0), 'half and half' => array(2, 200, 200));
            foreach ($mixes as $title => $mix) {
                $runner->test("$store by $name: $title", function () use ($run, $mix) {
                    list(, $went) = $run(array('write_every' => $mix[0]));
                    Failure::unlessSame(array($mix[1], $mix[2]), array($went['writes']['count'], $went['reads']['hits']), 'mix');
                });
            }
            $runner->test("$store by $name: new keys, all of which are taken away", function () use ($run) {
                list(, $went, $clean) = $run(array('keys' => array('kind' => 'new'), 'write_every' => 4));
                Failure::unlessSame(array(100, 100), array($went['writes']['count'], $clean['removed']), 'written, removed');
            });
            $runner->test("$store by $name: a family of values, which a worker's keys hold in turn", function () use ($run, $family) {
                foreach (array(null, array('serializer' => 'serialize', 'codec' => 'gzdeflate', 'level' => 6, 'options' => new stdClass())) as $encode) {
                    list(, $went, $clean) = $run(array('value' => $family, 'encode' => $encode, 'write_every' => 2));
                    Failure::unlessSame(array(200, 200), array($went['writes']['count'], $went['reads']['hits']), 'writes, hits');
                    Failure::unlessSame(24, $clean['removed'], 'removed');
                }
            });
            $runner->test("$store by $name: encoded values", function () use ($run, $values, $lab) {
                $encode = array('serializer' => 'serialize', 'codec' => 'gzdeflate', 'level' => 6, 'options' => new stdClass());
                list($ready, $went) = $run(array('value' => $values['a value'], 'encode' => $encode));
                Failure::unless($ready['stored_bytes'] < strlen(serialize(Lab::value())) / 2, "stored: {$ready['stored_bytes']}");
                Failure::unless($went['encode_ns'] > 0 && $went['decode_ns'] > 0, 'time of encoding');
                Failure::unless($went['encode_ns'] <= $went['put']['sum'], 'encoding takes longer than the writes it is in');
                Failure::unless($went['decode_ns'] <= $went['get']['sum'], 'decoding takes longer than the reads it is in');
            });
        }
    }

    $runner->test('workers share a key space, and each takes its part away', function () use ($stores, $address, $left) {
        $keys = array('kind' => 'uniform', 'count' => 101);
        $clients = array();
        for ($i = 0; $i < 3; ++$i) {
            $clients[$i] = $stores->start();
            $request = StoreLab::prepare('redis', 'socket', $address('redis'), array('keys' => $keys, 'worker' => $i, 'workers' => 3));
            Failure::unlessSame(true, $clients[$i]->ask($request)['ready'], 'ready');
        }
        Failure::unlessSame(101, $left('redis'), 'keys after filling');
        $removed = 0;
        foreach ($clients as $client) {
            $went = $client->ask(array('id' => 3, 'op' => 'go'));
            Failure::unlessSame(array(360, 0), array($went['reads']['hits'], $went['reads']['wrong']), 'hits, wrong');
        }
        foreach ($clients as $client) {
            $removed += $client->ask(array('id' => 4, 'op' => 'clean'))['removed'];
            $client->end();
        }
        Failure::unlessSame(array(101, 0), array($removed, $left('redis')), 'removed, left');
    });

    $runner->test('a fixed rate is kept, and its responses count from when they were due', function () use ($stores, $address) {
        $other = array('rate' => 2000.0, 'transactions' => 400);
        list(, $went) = $stores->block(StoreLab::prepare('redis', 'socket', $address('redis'), $other));
        StoreLab::unlessConsistent($went, 400);
        Failure::unless($went['seconds'] >= 0.199, "400 at 2000 a second took {$went['seconds']} s");
        Failure::unlessSame($went['get']['count'], $went['get_response']['count'], 'responses');
        Failure::unless($went['get_response']['sum'] >= $went['get']['sum'], 'responses are shorter than what they hold');
    });

    $runner->test('more than a store can do is dropped', function () use ($stores, $address) {
        $other = array('rate' => 1000000.0, 'transactions' => 20000);
        list(, $went) = $stores->block(StoreLab::prepare('redis', 'socket', $address('redis'), $other));
        StoreLab::unlessConsistent($went, 20000);
        Failure::unless($went['dropped'] > 0, 'a million transactions per second were made');
    });

    foreach ($servers as $server) {
        if ($server instanceof Server) {
            $server->end();
        }
    }
};
