<?php
/** Blocks against a scripted store that does wrong, or is slow by known times. */

return function (Runner $runner, Lab $lab) {
    $stores = new StoreLab($lab);
    $block = function ($store, $driver, array $script, array $other = array()) use ($lab, $stores) {
        $stores->need($store, $driver);
        $server = Server::scripted($lab, $store, $script);
        $address = array('unix' => $server->socket);
        try {
            $prepare = StoreLab::prepare($store, $driver, $address, $other + array('timeout' => 3.0));
            // How many transactions filling, reading back and warming up take depends on the machine.
            list(, $went) = $stores->block($prepare, array($server, 'begin'));
        } finally {
            $server->end();
        }
        StoreLab::unlessConsistent($went, isset($other['transactions']) ? $other['transactions'] : 400);
        return array($went, $server);
    };
    $drivers = array('redis' => array('socket', 'phpredis'), 'memcached' => array('socket', 'php-memcached'));
    foreach ($drivers as $store => $names) {
        foreach ($names as $name) {
            $runner->test("$store by $name: error replies are failures with the store's words, and the rest goes on", function () use ($block, $store, $name) {
                // Of 400 from 0 on, every tenth is a write; an older php-memcached tries a refused write again.
                foreach ($name === 'php-memcached' ? array('get' => 9) : array('set' => 10, 'get' => 9) as $verb => $every) {
                    list($went) = $block($store, $name, array('do' => 'error', 'every' => $every, 'only' => $verb));
                    $expected = array('set' => array(40, 0), 'get' => array(0, 40));
                    $failed = array($went['writes']['failed'], $went['reads']['failed']);
                    Failure::unlessSame($expected[$verb], $failed, 'failed writes and reads');
                    Failure::unlessSame(array(40, 0), array($went['writes']['count'], $went['reads']['misses']), 'writes, misses');
                    $faults = $went['faults'];
                    Failure::unlessSame(array(1, 40), array(count($faults), $faults[0]['count']), 'kinds of faults, count');
                    Failure::unless(strpos($faults[0]['message'], 'made up for this test') !== false, $faults[0]['message']);
                }
            });
            $runner->test("$store by $name: wrong values are found, every one", function () use ($block, $store, $name) {
                $text = array('kind' => 'record', 'bins' => 6);
                foreach (array(array('kind' => 'integer'), $text) as $value) {
                    list($went) = $block($store, $name, array('do' => 'wrong', 'every' => 7, 'only' => 'get'), array('value' => $value));
                    $reads = $went['reads'];
                    // php-memcached knows types: what stands in a number's place may make it a failure of reading. A record
                    // that it can make something of is wrong in every eighth read: this many are compared.
                    $expected = array(0, 0);
                    $read = 0;
                    for ($i = 0; $i < 400; ++$i) {
                        $wrong = $i % 7 === 0 && $i % 10 !== 0;
                        $expected[0] += (int) $wrong;
                        $expected[1] += (int) ($wrong && $read % 8 === 0);
                        $read += $i % 10 === 0 ? 0 : 1;
                    }
                    $whole = $name !== 'php-memcached' || $value['kind'] === 'integer';
                    $found = in_array($reads['wrong'] + $reads['failed'], $whole ? array($expected[0]) : $expected, true);
                    Failure::unless($found, 'wrong: ' . json_encode(array($reads, $expected, $went['faults'])));
                }
            });
            $runner->test("$store by $name: replies in pieces are put together", function () use ($block, $store, $name) {
                list($went) = $block($store, $name, array('do' => 'split', 'every' => 5));
                Failure::unlessSame(array(360, array()), array($went['reads']['hits'], $went['faults']), 'hits, faults');
            });
            foreach (array('close', 'short', 'garbage') as $do) {
                $runner->test("$store by $name: after `$do` the connection is made again", function () use ($block, $store, $name, $do) {
                    list($went) = $block($store, $name, array('do' => $do, 'every' => 63));
                    $failed = $went['writes']['failed'] + $went['reads']['failed'];
                    // The extensions try some commands again by themselves.
                    Failure::unless($name !== 'socket' || $failed === 7, "failed: $failed, " . json_encode($went['faults']));
                    Failure::unless($failed < 50 && $went['aborted'] === null, 'aborted: ' . $went['aborted']);
                    Failure::unlessSame(0, $went['reads']['wrong'], 'wrong');
                });
            }
            $runner->test("$store by $name: a store that does not answer is given up, soon", function () use ($block, $store, $name) {
                list($went) = $block($store, $name, array('do' => 'hang', 'every' => 1), array('timeout' => 0.2, 'write_every' => 0));
                Failure::unless($went['aborted'] !== null, 'not given up');
                Failure::unless($went['reads']['failed'] <= 50, "failed: {$went['reads']['failed']}");
            });
        }
    }

    $runner->test('a length beyond all bounds is not believed', function () use ($block) {
        foreach (array('redis', 'memcached') as $store) {
            list($went) = $block($store, 'socket', array('do' => 'huge', 'every' => 91, 'only' => 'get'));
            Failure::unless(strpos($went['faults'][0]['message'], 'not an answer of the protocol') !== false, json_encode($went['faults']));
            Failure::unless($went['memory']['peak'] < 50000000, 'memory was taken for it');
        }
    });

    $runner->test('known delays come out as they were', function () use ($block) {
        // Four of five answers after 5 ms, one after 50 ms: what the store slept is the least a client can see.
        $script = array('sleeps' => array(5000, 5000, 5000, 5000, 50000));
        list($went, $server) = $block('redis', 'socket', $script, array('transactions' => 200, 'write_every' => 0));
        $slept = array();
        foreach (file($server->log) as $line) {
            list($verb, $turn, $ns) = explode(' ', $line);
            if ($verb === 'get' && $turn >= 0) {
                $slept[] = (float) $ns;
            }
        }
        $slept = array_slice($slept, 0, 200);
        sort($slept);
        $found = array();
        foreach ($went['get']['bins'] as $bin) {
            for ($i = 0; $i < $bin[1]; ++$i) {
                $found[] = $bin[0];
            }
        }
        Failure::unlessSame(array(200, 200), array(count($slept), count($found)), 'answers, times');
        foreach (array(1, 25, 50, 75, 79, 81, 90, 99, 100) as $percent) {
            $at = $percent * 2 - 1;
            // A bin's middle may be 1/512 below what is in it.
            Failure::unless($found[$at] >= $slept[$at] * (1 - 1 / 512), "p$percent: {$found[$at]}, the store took {$slept[$at]}");
        }
        $fast = count(array_filter($found, function ($ns) {
            return $ns < 50e6 * (1 - 1 / 512);
        }));
        // A machine that stands still for 45 ms could make a fast answer slow, and never a slow one fast.
        Failure::unless($fast <= 160 && $fast > 100, "$fast of 200 below 50 ms");
        Failure::unless($went['get']['min'] >= 5e6, "the least is {$went['get']['min']} ns");
    });

    $runner->test('with a rate, a stall shows in the responses of all that were due in it', function () use ($block) {
        // One answer of 600 takes 100 ms: at 1000 a second some hundred were due meanwhile. A run ends at half as long again as it
        // should last: so much a busy machine may take besides.
        $sleeps = array_merge(array(100000), array_fill(0, 599, 0));
        list($went) = $block('redis', 'socket', array('sleeps' => $sleeps), array('transactions' => 600, 'write_every' => 0, 'rate' => 1000.0));
        $late = function (array $histogram) {
            $late = 0;
            foreach ($histogram['bins'] as $bin) {
                $late += $bin[0] > 40e6 ? $bin[1] : 0;
            }
            return $late;
        };
        Failure::unless($late($went['get_response']) >= 50, 'late responses: ' . $late($went['get_response']));
        Failure::unless($late($went['get']) < $late($went['get_response']) / 2, 'late services: ' . $late($went['get']));
    });
};
