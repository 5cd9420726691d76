<?php
/** How many samples are taken, in which batches, and the memory beside them. No test asserts a time. */

return function (Runner $runner, Lab $lab) {
    $ask = function (array $other, $codec = 'identity', $items = array('x')) use ($lab) {
        $reply = $lab->worker()->ask($lab->visit($items, $codec, null, $other));
        Failure::unless(!isset($reply['fault']), 'fault: ' . json_encode($reply));
        return $reply;
    };

    $needMeter = function () use ($lab) {
        if (!is_writable('/proc/self/clear_refs')) {
            throw new Skip('this system has no /proc/self/clear_refs');
        }
        $facts = $lab->worker()->ask(array('op' => 'describe', 'id' => 1));
        if ($facts['facts']['peak memory'] !== 'measured') {
            throw new Skip($facts['facts']['peak memory']);
        }
    };

    $runner->test('as many samples are taken as were asked for', function () use ($ask) {
        $reply = $ask(array('samples' => 5));
        foreach ($reply['phases'] as $samples) {
            Failure::unlessSame(array(5, 5), array(count($samples['cpu_ns']), count($samples['wall_ns'])), 'samples');
        }
    });

    $runner->test('without budget there is one sample', function () use ($ask) {
        Failure::unlessSame(1, count($ask(array('samples' => 5, 'budget_ns' => 0))['phases']['encode']['cpu_ns']), 'samples');
    });

    $runner->test('short calls are batched, as far as the lab allows', function () use ($ask) {
        $bounds = array('min_batch_ns' => 1000000, 'max_batch_ns' => 100000000);
        Failure::unless($ask($bounds)['phases']['encode']['batch'] > 10, 'copying a byte was not batched');
        $bounds['max_batch_ns'] = 0;
        Failure::unlessSame(1, $ask($bounds)['phases']['encode']['batch'], 'batch');
    });

    $runner->test('only the phases asked for are timed', function () use ($ask) {
        Failure::unlessSame(array('decode'), array_keys($ask(array('phases' => array('decode')))['phases']), 'phases');
        Failure::unlessSame(array(), $ask(array('phases' => array()))['phases'], 'phases');
    });

    $runner->test('maps without entries are still objects', function () use ($lab) {
        $worker = $lab->start(dirname(dirname(__DIR__)));
        $reply = $worker->provoke($lab->visit(array('x'), 'identity', null, array('phases' => array())));
        $worker->end();
        Failure::unless(strpos($reply, '"phases":{}') !== false, $reply);
        Failure::unless(strpos($reply, '"peak_bytes":{}') !== false, $reply);
    });

    $runner->test('verified is said only where it was asked for', function () use ($ask) {
        Failure::unlessSame(false, $ask(array('verify' => false))['verified'], 'verified');
    });

    $runner->test('the peak of memory holds at least the result', function () use ($ask, $needMeter) {
        $needMeter();
        $peaks = $ask(array('memory' => true), 'identity', array(Lab::text(4000000)))['peak_bytes'];
        foreach (array('encode', 'decode') as $phase) {
            // The kernel counts whole pages, and one or two may have been there before.
            Failure::unless($peaks[$phase] >= 3900000, "$phase: {$peaks[$phase]} bytes for a copy of 4,000,000");
            Failure::unless($peaks[$phase] < 12000000, "$phase: {$peaks[$phase]} bytes for a copy of 4,000,000");
        }
    });

    $runner->test('memory is no number where what is left from before cannot be given back', function () use ($lab) {
        // As in a PHP before 7.4, which has no FFI: nobody can tell the C library to give back what it keeps.
        $worker = $lab->start(dirname(dirname(__DIR__)), array('-d', 'ffi.enable=0'));
        $visit = $lab->visit(array(Lab::text(4000000)), 'identity', null, array('memory' => true));
        $reply = $worker->provoke($visit);
        $worker->end();
        Failure::unless(strpos($reply, '"peak_bytes":{}') !== false, $reply);
    });

    $runner->test('memory is measured with PHP\'s allocator off, too', function () use ($lab, $needMeter) {
        $needMeter();
        putenv('USE_ZEND_ALLOC=0');
        $worker = $lab->start(dirname(dirname(__DIR__)));
        putenv('USE_ZEND_ALLOC');
        $reply = $worker->ask($lab->visit(array(Lab::text(4000000)), 'identity', null, array('memory' => true)));
        $worker->end();
        Failure::unless($reply['peak_bytes']['encode'] >= 3900000, json_encode($reply));
    });

    $runner->test('a dump is replaced as a whole', function () use ($lab, $ask) {
        $dump = $lab->folder->file('what was there before');
        $ask(array('dump' => $dump), 'identity', array('one', 'two'));
        Failure::unlessSame('onetwo', file_get_contents($dump), 'dump');
        Failure::unlessSame(array($dump), glob("$dump*"), 'files beside it');
    });
};
