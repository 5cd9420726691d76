<?php
/** Requests that cannot be carried out: one clear fault each, and the worker goes on. */

return function (Runner $runner, Lab $lab) {
    $text = array(Lab::text(500));
    $visit = function ($codec, $level, array $other) use ($lab, $text) {
        return $lab->visit($text, $codec, $level, $other);
    };
    $cases = array(
        'an unknown codec' => array('parameter', 'unknown codec `gzdefalte`', $visit('gzdefalte', 1, array())),
        'a level out of range' => array('parameter', 'levels -1 to 9, not 10', $visit('gzdeflate', 10, array())),
        'a level where there is none' => array('parameter', 'has no levels', $visit('identity', 1, array())),
        'an unknown option' => array(
            'parameter', 'no option `windw`; it takes: window', $visit('brotli', 1, array('options' => array('windw' => '20'))),
        ),
        'an option out of range' => array(
            'parameter', 'use 10 to 24', $visit('brotli', 1, array('options' => array('window' => '25'))),
        ),
        'an option that is no number' => array(
            'parameter', 'use 10 to 24', $visit('brotli', 1, array('options' => array('window' => '2e1'))),
        ),
        'an unknown word' => array(
            'parameter', 'use raw, zlib, gzip', $visit('libdeflate', 1, array('options' => array('container' => 'zip'))),
        ),
        'options that do not go together' => array(
            'parameter', 'does not take every option',
            $visit('brotli', 1, array('options' => array('window' => '20', 'binding' => 'extension'))),
        ),
        'a missing file' => array('payload', 'not a readable file', $visit('identity', null, array('blob' => '/nonexistent'))),
        'a folder' => array('payload', 'not a readable file', $visit('identity', null, array('blob' => __DIR__))),
        'another digest' => array('payload', 'planned was', $visit('identity', null, array('sha256' => str_repeat('0', 64)))),
        'items that do not add up' => array('parameter', 'add up to 499', $visit('identity', null, array('items' => array(499)))),
        'no item' => array('parameter', 'at least one item', $visit('identity', null, array('items' => array()))),
        'a negative item' => array('parameter', 'no negative', $visit('identity', null, array('items' => array(501, -1)))),
        'a phase that bytes do not have' => array(
            'parameter', 'no phase compress', $visit('identity', null, array('phases' => array('compress'))),
        ),
        'no sample' => array('parameter', 'at least 1', $visit('identity', null, array('samples' => 0))),
        'a number that is none' => array('parameter', '`budget_ns`', $visit('identity', null, array('budget_ns' => 'x'))),
        'a dump that cannot be written' => array(
            'payload', 'cannot be written', $visit('identity', null, array('dump' => '/nonexistent/dump')),
        ),
        'bytes for a codec that takes values' => array('parameter', '`serialize`', $visit('symfony-deflate', null, array())),
        'a serializer for a codec that takes values' => array(
            'parameter', 'no serializer goes with it',
            $visit('symfony-deflate', null, array('serializer' => 'serialize', 'value' => 'serialize')),
        ),
        'a check' => array('parameter', 'native worker', array('op' => 'check', 'id' => 7, 'format' => 'gzip')),
        'an unknown op' => array('parameter', 'unknown op `dance`', array('op' => 'dance', 'id' => 7)),
        'no op' => array('parameter', 'lacks `op`', array('id' => 7)),
    );
    foreach ($cases as $title => $case) {
        $runner->test("$title is a fault, and the worker goes on", function () use ($lab, $case, $text) {
            list($kind, $message, $request) = $case;
            if (isset($request['codec']) && $request['codec'] === 'symfony-deflate') {
                $codecs = $lab->codecs();
                $lab->need($codecs['symfony-deflate']);
            }
            $reply = $lab->worker()->ask($request);
            Failure::unlessSame(7, $reply['id'], 'id');
            Failure::unlessFault($reply, $kind, $message);
            $next = $lab->worker()->ask($lab->visit($text, 'identity'));
            Failure::unlessSame(true, $next['verified'], 'the next visit');
        });
    }

    $lines = array('garbage' => 'visit please', 'a list cut short' => '[1,', 'a number' => '3', 'nothing' => '', 'not UTF-8' => "\xff\xfe");
    foreach ($lines as $title => $line) {
        $runner->test("a line with $title is a fault with the id 0", function () use ($lab, $line, $text) {
            $reply = $lab->worker()->askRaw($line);
            Failure::unlessSame(0, $reply['id'], 'id');
            Failure::unlessFault($reply, 'parameter', 'not a JSON object');
            $next = $lab->worker()->ask($lab->visit($text, 'identity'));
            Failure::unlessSame(true, $next['verified'], 'the next visit');
        });
    }

    $runner->test('a worker that has a payload keeps to it, another refuses the changed file', function () use ($lab) {
        $visit = $lab->visit(array('first'), 'identity');
        Failure::unlessSame(true, $lab->worker()->ask($visit)['verified'], 'first visit');
        file_put_contents($visit['blob'], 'FIRST');
        $again = $lab->worker()->ask($visit);
        Failure::unlessSame($visit['sha256'], $again['sha256_decoded'], 'digest on the second visit');
        $other = $lab->start(dirname(dirname(__DIR__)));
        Failure::unlessFault($other->ask($visit), 'payload', 'planned was');
        $other->end();
    });

    $runner->test('more payloads than are kept are read again, in any order', function () use ($lab) {
        $visits = array();
        foreach (range(0, 3) as $i) {
            $visits[] = $lab->visit(array(str_repeat("payload $i ", 1200000)), 'identity', null, array('phases' => array()));
        }
        foreach (array(0, 1, 2, 3, 0, 3, 1) as $i) {
            $reply = $lab->worker()->ask($visits[$i]);
            Failure::unlessSame($visits[$i]['sha256'], $reply['sha256_decoded'], "digest of payload $i");
        }
    });

    $runner->test('the worker ends when its stdin does', function () use ($lab) {
        $worker = $lab->start(dirname(dirname(__DIR__)));
        $worker->ask(array('op' => 'describe', 'id' => 1));
        Failure::unlessSame(array(0, '', ''), $worker->end(), 'exit code, rest of stdout, stderr');
    });

    $runner->test('the worker runs without any ini file, or says what it needs', function () use ($lab) {
        $worker = $lab->start(dirname(dirname(__DIR__)), array('-n'));
        $reply = $worker->provoke(array('op' => 'describe', 'id' => 1));
        list(, , $errors) = $worker->end();
        if ($reply === false) {
            Failure::unless(strpos($errors, 'extension is needed') !== false, "stderr: $errors");
        } else {
            Failure::unlessSame(1, json_decode($reply, true)['id'], 'id');
        }
    });
};
