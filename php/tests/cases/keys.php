<?php
/** Key sequences: the same in every PHP, and distributed as they say. And the histogram, to its stated precision. */

use Weighbridge\Draws;
use Weighbridge\Histogram;
use Weighbridge\Keys;
use Weighbridge\Request;
use Weighbridge\Zipf;

return function (Runner $runner, Lab $lab, $binary) {
    $runner->test('draws, sequences and records are the same in every PHP', function () use ($lab, $binary) {
        $client = new Client(array($binary, dirname(__DIR__) . '/peers/sequence.php'), $lab->folder->name());
        $found = $client->askRaw('');
        $client->end();
        $expected = array(
            'draws' => '5cac450214e8d6b69990dfe151a41f30a41af73b', 'uniform' => 'f08fb8d1dfd29fa1a03ba05ba30020bdab39f898',
            'zipf' => '1882d0be97eef46bff37fafd09cfef9d5e779043', 'zipf-large' => 'fa8fa83be6ff5e4ad76ddb2a544c8b5235f1d2d0',
            'record' => '250d183813ef2d16864dd15beb627395c358c886',
        );
        Failure::unlessSame($expected, $found, 'digests');
    });

    $keys = function (array $kind, $worker = 0, $workers = 1, $shared = true, $seed = 5) {
        $fields = array('keys' => $kind, 'prefix' => 'p:', 'worker' => $worker, 'workers' => $workers, 'seed' => $seed);
        return new Keys(Request::parse(json_encode($fields)), $shared);
    };

    $runner->test('Zipf draws have the weights of the law', function () {
        $draws = new Draws('zipf');
        $numbers = array();
        for ($i = 0; $i < 40000; ++$i) {
            $numbers[] = $draws->next();
        }
        $counts = array_count_values(Zipf::ranks(1000, 0.99, $numbers)) + array_fill(0, 1000, 0);
        $total = 0.0;
        for ($rank = 1; $rank <= 1000; ++$rank) {
            $total += pow($rank, -0.99);
        }
        // Pearson's test over the ranks that have at least 20 draws to expect; five standard deviations at most.
        $sum = 0.0;
        for ($rank = 0, $n = 0; ($expected = 40000 * pow($rank + 1, -0.99) / $total) >= 20; ++$rank, ++$n) {
            $sum += pow($counts[$rank] - $expected, 2) / $expected;
        }
        Failure::unless($n > 100 && abs($sum - $n) < 5 * sqrt(2 * $n), "chi squared is $sum for $n ranks");
        Failure::unlessSame(0, count(array_diff_key($counts, array_fill(0, 1000, 0))), 'ranks out of range');
    });

    $runner->test('an exponent of 0 is uniform, and a large one is nearly one key', function () use ($keys) {
        $counts = array_count_values($keys(array('kind' => 'zipf', 'count' => 4, 'exponent' => 0))->sequence());
        Failure::unless(min($counts) > 1900 && max($counts) < 2200, 'counts: ' . json_encode($counts));
        $counts = array_count_values($keys(array('kind' => 'zipf', 'count' => 4, 'exponent' => 20))->sequence());
        Failure::unless($counts[0] > 8180, 'counts: ' . json_encode($counts));
    });

    $runner->test('a worker has a key for each value of a family, and no key follows itself', function () use ($keys) {
        foreach (array(array(24, 1), array(24, 4), array(96, 3), array(384, 2)) as $case) {
            list($values, $workers) = $case;
            $own = $keys(array('kind' => 'one'), 1 % $workers, $workers);
            $own->hold($values);
            $sequence = $own->sequence();
            $places = array();
            foreach ($sequence as $i => $number) {
                Failure::unless($number !== $sequence[($i + 1) % count($sequence)], "$number follows itself at $i of $values");
                $places[(int) ($number / $workers) % $values] = true;
            }
            Failure::unlessSame($values, count($places), 'values met');
            $share = iterator_to_array($own->share(), false);
            sort($sequence);
            Failure::unlessSame($share, array_values(array_unique($sequence)), 'keys that are filled');
            // Every second transaction is a write: all keys are written in the long run.
            $written = array();
            $all = $own->sequence();
            for ($i = 0; $i < 2 * count($all); $i += 2) {
                $written[$all[$i % count($all)]] = true;
            }
            Failure::unlessSame($values, count($written), 'keys written');
        }
    });

    $runner->test('uniform keys are all met, workers and seeds have orders of their own', function () use ($keys) {
        $uniform = array('kind' => 'uniform', 'count' => 100);
        $counts = array_count_values($keys($uniform, 0, 2)->sequence());
        Failure::unless(count($counts) === 100 && min($counts) > 40 && max($counts) < 130, 'counts: ' . json_encode($counts));
        Failure::unless($keys($uniform, 0, 2)->sequence() === $keys($uniform, 0, 2)->sequence(), 'a repetition differs');
        Failure::unless($keys($uniform, 0, 2)->sequence() !== $keys($uniform, 1, 2)->sequence(), 'two workers go alike');
        Failure::unless($keys($uniform, 0, 2)->sequence() !== $keys($uniform, 0, 2, true, 6)->sequence(), 'two seeds go alike');
    });

    $runner->test('shares cover the key space once; in a store of its own a worker has all', function () use ($keys) {
        $all = array();
        for ($worker = 0; $worker < 3; ++$worker) {
            $all = array_merge($all, iterator_to_array($keys(array('kind' => 'uniform', 'count' => 10), $worker, 3)->share(), false));
        }
        sort($all);
        Failure::unlessSame(range(0, 9), $all, 'shares of three');
        $own = $keys(array('kind' => 'uniform', 'count' => 10), 2, 3, false);
        Failure::unlessSame(range(0, 9), iterator_to_array($own->share(), false), 'alone');
        Failure::unlessSame(array(2), iterator_to_array($keys(array('kind' => 'one'), 2, 3)->share(), false), 'one');
        $new = $keys(array('kind' => 'new'), 2, 3);
        Failure::unlessSame(array(2, 5, 8), array($new->another(), $new->another(), $new->another()), 'new ones');
        Failure::unlessSame(array(2, 5, 8), iterator_to_array($new->written(array()), false), 'new ones written');
    });

    $runner->test('the histogram is as precise as it says, on both sides of its knee', function () {
        $draws = new Draws('histogram');
        $all = array(
            0, 15, 16, 700, 16383, 16384, 42300, 131071, 131072, 1048575, 1048576, 1048577, 2097151, 2097152, 3e9, 4294967296,
        );
        for ($i = 0; $i < 3000; ++$i) {
            $all[] = floor(exp($draws->next() * 22));
        }
        foreach ($all as $ns) {
            $one = new Histogram();
            $one->record((int) $ns);
            $said = $one->describe();
            Failure::unlessSame(array(1, 1, (int) $ns), array($said['count'], count($said['bins']), $said['sum']), "of $ns");
            $half = max(8, $ns / 1000);
            Failure::unless(abs($said['bins'][0][0] - $ns) <= $half, "$ns is counted at {$said['bins'][0][0]}");
        }
        $lent = new Histogram();
        $bins = $lent->lend();
        ++$bins[Histogram::bin(1000)];
        $lent->add(5000000);
        $lent->take($bins, 5001000, 1000, 5000000);
        $said = $lent->describe();
        $found = array($said['count'], $said['min'], $said['max'], $said['sum'], $said['bins'][0]);
        Failure::unlessSame(array(2, 1000, 5000000, 5001000, array(1000, 1)), $found, 'counted by the loop');
    });
};
