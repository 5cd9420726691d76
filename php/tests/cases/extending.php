<?php
/** Codecs in files of their own: added by a file, and unable to harm the worker when they are bad. */

return function (Runner $runner, Lab $lab) {
    $codec = function ($encode, $decode) {
        return "<?php
            return array(
                'format' => 'identity',
                'bindings' => array('library' => array(
                    'missing' => function () { return null; },
                    'library' => function () { return 'test 1'; },
                    'coder' => function () {
                        return new Weighbridge\\Coder(
                            function (\$input) { $encode },
                            function (\$encoded, \$length) { $decode }
                        );
                    },
                )),
            );";
    };
    $same = 'return $encoded;';
    // Uses half a second of CPU time, and lengthens its output by one byte at each call of the process.
    $slow = '
        $used = function () {
            $usage = getrusage();
            return ($usage["ru_utime.tv_sec"] + $usage["ru_stime.tv_sec"]) * 1e6
                + $usage["ru_utime.tv_usec"] + $usage["ru_stime.tv_usec"];
        };
        for ($end = $used() + 5e5; $used() < $end;) {
            continue;
        }
        $GLOBALS["calls"] = isset($GLOBALS["calls"]) ? $GLOBALS["calls"] + 1 : 0;
        return $input . str_repeat("+", $GLOBALS["calls"]);';
    $files = array(
        'codecs/good.php' => $codec('return strrev($input);', 'return strrev($encoded);'),
        'codecs/throws.php' => '<?php throw new Exception("no good today");',
        'codecs/nothing.php' => '<?php return 5;',
        'codecs/incomplete.php' => '<?php return array("format" => "identity");',
        'codecs/noisy.php' => '<?php echo "hello"; ' . substr($codec('echo "while encoding"; return $input;', $same), 5),
        'codecs/overlong.php' => $codec('return $input;', 'return $encoded . "more";'),
        'codecs/wrong.php' => $codec('return $input;', '$encoded[2] = "#"; return $encoded;'),
        'codecs/short.php' => $codec('return $input;', 'return substr($encoded, 1);'),
        'codecs/mute.php' => $codec('return false;', $same),
        'codecs/deaf.php' => $codec('return $input;', 'return false;'),
        'codecs/warns.php' => $codec('trigger_error("look out\nbelow"); return $input;', $same),
        'codecs/quiet.php' => $codec('@trigger_error("hidden"); return $input;', $same),
        'codecs/raises.php' => $codec('throw new Exception("refused \xff");', $same),
        'codecs/slow.php' => $codec($slow, 'return substr($encoded, 0, $length);'),
        'codecs/later.php' => $codec('static $n = 0; return ++$n > 3 ? null : $input;', $same),
    );
    $worker = $lab->start($lab->sourceWith($files));
    $visit = function ($name, array $other = array()) use ($lab, $worker) {
        return $worker->ask($lab->visit(array('some bytes'), $name, null, $other));
    };

    $runner->test('a codec is added by its file alone', function () use ($visit, $worker) {
        Failure::unlessSame(true, $visit('good')['verified'], 'verified');
        $names = array();
        foreach ($worker->ask(array('op' => 'describe', 'id' => 1))['codecs'] as $entry) {
            $names[] = $entry['name'];
        }
        $sorted = $names;
        sort($sorted);
        Failure::unlessSame($sorted, $names, 'order');
        Failure::unless(in_array('good', $names, true), 'it is not described');
    });

    $broken = array(
        'throws' => 'no good today', 'nothing' => 'must return an array', 'incomplete' => 'at least `format` and `bindings`',
    );
    foreach ($broken as $name => $reason) {
        $runner->test("a codec file that is bad ($name) is missing with the reason", function () use ($visit, $worker, $name, $reason) {
            Failure::unlessFault($visit($name), 'missing', $reason);
            foreach ($worker->ask(array('op' => 'describe', 'id' => 1))['codecs'] as $entry) {
                if ($entry['name'] === $name) {
                    Failure::unless(strpos($entry['missing'], $reason) !== false, "missing: {$entry['missing']}");
                    Failure::unlessSame("mend codecs/$name.php", $entry['remedy'], 'remedy');
                    return;
                }
            }
            throw new Failure('it is not described');
        });
    }

    $faults = array(
        'overlong' => array('round-trip', 'item 0 came back as 14 bytes, not 10'),
        'short' => array('round-trip', 'item 0 came back as 9 bytes, not 10'),
        'wrong' => array('round-trip', 'other bytes, first at offset 2'),
        'mute' => array('codec', 'gave boolean and not a text'),
        'deaf' => array('round-trip', 'boolean, not as 10 bytes'),
        'warns' => array('codec', 'look out below'),
        'raises' => array('codec', 'refused ?'),
        'later' => array('codec', 'while timed, encode gave NULL'),
    );
    foreach ($faults as $name => $fault) {
        $runner->test("a codec that goes wrong ($name) is a fault", function () use ($visit, $name, $fault) {
            Failure::unlessFault($visit($name, array('samples' => 9)), $fault[0], $fault[1]);
        });
    }

    $runner->test('a slow first call is the first sample, and is not made twice', function () use ($visit) {
        $reply = $visit('slow', array('phases' => array('encode')));
        Failure::unlessSame(1, count($reply['phases']['encode']['cpu_ns']), 'samples');
        Failure::unlessSame(1, $reply['phases']['encode']['batch'], 'batch');
        $again = $visit('slow', array('phases' => array('encode')));
        Failure::unlessSame(array(11), $again['encoded'], 'the second visit makes the second call: length');
    });

    $runner->test('a silenced warning is no fault', function () use ($visit) {
        Failure::unlessSame(true, $visit('quiet')['verified'], 'verified');
    });

    $runner->test('stray output never reaches stdout, and is told on stderr', function () use ($visit, $worker) {
        Failure::unlessSame(true, $visit('noisy')['verified'], 'verified');
        list($code, $rest, $errors) = $worker->end();
        Failure::unlessSame(array(0, ''), array($code, $rest), 'exit code and rest of stdout');
        Failure::unless(strpos($errors, 'stray output: while encoding') !== false, "stderr: $errors");
    });

    $runner->test('a syntax error in a codec file leaves the others', function () use ($lab) {
        $version = $lab->worker()->ask(array('op' => 'describe', 'id' => 1))['version'];
        if (version_compare($version, '7.0', '<')) {
            throw new Skip('before PHP 7.0 a syntax error cannot be caught', true);
        }
        $worker = $lab->start($lab->sourceWith(array('codecs/torn.php' => '<?php return array(')));
        Failure::unlessFault($worker->ask($lab->visit(array('x'), 'torn')), 'missing', 'torn.php cannot be used');
        Failure::unlessSame(true, $worker->ask($lab->visit(array('x'), 'identity'))['verified'], 'identity');
        $worker->end();
    });

    $runner->test('a fatal error ends the worker, with its reason last on stderr and nothing on stdout', function () use ($lab, $codec) {
        // Declaring a class twice is fatal in every PHP.
        $twice = $codec('eval("final class Weigh" . "Twice {} class WeighOnce extends WeighTwice {}"); return $input;', '');
        $worker = $lab->start($lab->sourceWith(array('codecs/fatal.php' => $twice)));
        Failure::unlessSame(false, $worker->provoke($lab->visit(array('x'), 'fatal')), 'reply');
        list($code, $rest, $errors) = $worker->end();
        Failure::unless($code !== 0, 'the exit code is 0');
        Failure::unlessSame('', $rest, 'stdout');
        $lines = explode("\n", $errors);
        Failure::unless(strpos(end($lines), 'php worker: fatal: ') === 0, "last line on stderr: " . end($lines));
    });
};
