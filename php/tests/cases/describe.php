<?php
/** What the worker says of itself. */

return function (Runner $runner, Lab $lab) {
    $source = dirname(dirname(__DIR__));
    $names = function ($folder) use ($source) {
        $names = array();
        foreach (glob("$source/$folder/*.php") as $file) {
            $names[] = basename($file, '.php');
        }
        sort($names);
        return $names;
    };
    $describe = function () use ($lab) {
        return $lab->worker()->ask(array('op' => 'describe', 'id' => 42));
    };

    $runner->test('a description echoes the id and names protocol and runtime', function () use ($describe) {
        $reply = $describe();
        Failure::unlessSame(42, $reply['id'], 'id');
        Failure::unlessSame(1, $reply['protocol'], 'protocol');
        Failure::unlessSame('php', $reply['runtime'], 'runtime');
        Failure::unlessSame($reply['facts']['PHP_VERSION'], $reply['version'], 'version');
    });

    $runner->test('facts are texts and hold what changes results', function () use ($describe) {
        $facts = $describe()['facts'];
        Failure::unlessSame($facts, array_filter($facts, 'is_string'), 'facts that are texts');
        $wanted = array('PHP_BINARY', 'sapi', 'debug', 'zts', 'clock', 'USE_ZEND_ALLOC', 'USE_ZEND_ALLOC_HUGE_PAGES');
        $wanted = array_merge($wanted, array('opcache.enable_cli', 'opcache.jit', 'xdebug', 'int_bits', 'zlib'));
        Failure::unlessSame(array(), array_diff($wanted, array_keys($facts)), 'facts that are lacking');
    });

    $runner->test('every file is described, sorted by name', function () use ($describe, $names) {
        $reply = $describe();
        foreach (array('codecs', 'serializers') as $kind) {
            $described = array();
            foreach ($reply[$kind] as $entry) {
                $described[] = $entry['name'];
            }
            Failure::unlessSame($names($kind), $described, $kind);
        }
    });

    $runner->test('an entry has a library with a version, or a reason and a remedy', function () use ($describe) {
        $reply = $describe();
        foreach (array_merge($reply['codecs'], $reply['serializers']) as $entry) {
            if ($entry['missing'] === null) {
                $versioned = preg_match('/\d|sha256:/', (string) $entry['library']) === 1;
                Failure::unless($versioned, "{$entry['name']} has no version: {$entry['library']}");
            } else {
                Failure::unless($entry['remedy'] !== null, "{$entry['name']} is missing without a remedy");
            }
        }
    });

    $runner->test('representative levels and defaults are levels, ascending', function () use ($describe) {
        foreach ($describe()['codecs'] as $codec) {
            if ($codec['levels'] !== null) {
                $all = array_merge($codec['levels']['representative'], array($codec['levels']['default']));
                Failure::unless(min($all) >= $codec['levels']['min'], "{$codec['name']}: below its levels");
                Failure::unless(max($all) <= $codec['levels']['max'], "{$codec['name']}: above its levels");
                $sorted = $codec['levels']['representative'];
                sort($sorted);
                Failure::unlessSame($sorted, $codec['levels']['representative'], "{$codec['name']}'s representative levels");
            }
        }
    });

    foreach ($lab->codecs() as $name => $codec) {
        $runner->test("$name can be measured here, or a visit says why not", function () use ($lab, $name, $codec) {
            if ($codec['missing'] !== null) {
                $reply = $lab->worker()->ask($lab->visit(array('x'), $name));
                Failure::unlessFault($reply, 'missing', '');
                Failure::unlessSame($codec['remedy'], $reply['fault']['remedy'], 'remedy');
            }
            $lab->need($codec);
        });
    }
};
