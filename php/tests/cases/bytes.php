<?php
/** Round trips of bytes through every codec, and what a visit reports of them. */

return function (Runner $runner, Lab $lab) {
    /** Visits, and checks everything in the reply that is known beforehand. */
    $check = function (array $items, $codec, $level, array $options, $format) use ($lab) {
        $dump = $lab->folder->name();
        $other = array('dump' => $dump) + ($options ? array('options' => $options) : array());
        $reply = $lab->worker()->ask($lab->visit($items, $codec, $level, $other));
        Failure::unless(!isset($reply['fault']), 'fault: ' . json_encode($reply));
        Failure::unlessSame(array_map('strlen', $items), $reply['decoded'], 'decoded');
        Failure::unlessSame(true, $reply['verified'], 'verified');
        Failure::unlessSame($format, $reply['format'], 'format');
        Failure::unlessSame(hash('sha256', implode('', $items)), $reply['sha256_decoded'], 'sha256_decoded');
        $encoded = file_get_contents($dump);
        Failure::unlessSame(strlen($encoded), array_sum($reply['encoded']), 'length of the dump');
        Failure::unlessSame(hash('sha256', $encoded), $reply['sha256_encoded'], 'sha256_encoded');
        foreach (array('encode', 'decode') as $phase) {
            $samples = $reply['phases'][$phase];
            Failure::unlessSame(1, count($samples['cpu_ns']), "samples of CPU time of $phase");
            Failure::unlessSame(1, count($samples['wall_ns']), "samples of wall time of $phase");
        }
        return array($encoded, $reply);
    };
    $inputs = array(
        'text' => array(Lab::text(30000)),
        'noise' => array(Lab::noise(5000)),
        'one byte' => array('x'),
        'an empty item' => array(''),
        'several items' => array(Lab::text(700), '', Lab::noise(300), Lab::text(1)),
    );

    foreach ($lab->codecs() as $name => $codec) {
        if ($codec['takes_value']) {
            continue;
        }
        $levels = $codec['levels'] ? $codec['levels']['representative'] : array(null);
        if ($codec['levels']) {
            $levels = array_unique(array_merge($levels, array($codec['levels']['min'], $codec['levels']['max'])));
        }
        foreach ($levels as $level) {
            $title = $name . ($level === null ? '' : ":$level") . ' brings back text, noise, one byte, nothing and several items';
            $runner->test($title, function () use ($lab, $check, $inputs, $codec, $level) {
                $lab->need($codec);
                foreach ($inputs as $items) {
                    // The lz4 extension encodes an empty text and then refuses to decode it.
                    $items = $codec['format'] === 'php-lz4' ? array_filter($items, 'strlen') : $items;
                    if (!$items) {
                        continue;
                    }
                    $items = array_values($items);
                    $check($items, $codec['name'], $level, array(), $codec['format']);
                }
            });
        }
        if ($codec['missing'] === null && count($codec['options'])) {
            foreach ($codec['options'] as $option) {
                $values = $option['words'] ?: $option['range'];
                foreach ($values as $value) {
                    $setting = "{$option['name']}=$value";
                    $runner->test("$name,$setting brings text back", function () use ($lab, $codec, $option, $value) {
                        $options = array($option['name'] => (string) $value);
                        $request = $lab->visit(array(Lab::text(9000)), $codec['name'], null, array('options' => $options));
                        $reply = $lab->worker()->ask($request);
                        if (isset($reply['fault']) && $reply['fault']['kind'] === 'missing') {
                            throw new Skip($reply['fault']['message'], $option['name'] === 'binding');
                        }
                        Failure::unless(!isset($reply['fault']), 'fault: ' . json_encode($reply));
                        Failure::unlessSame(true, $reply['verified'], 'verified');
                    });
                }
            }
        }
    }

    $native = array(
        'deflate' => array('gzdeflate', array(), 'gzinflate'),
        'zlib' => array('gzcompress', array(), 'gzuncompress'),
        'gzip' => array('gzencode', array(), 'gzdecode'),
        'deflate by libdeflate' => array('libdeflate', array(), 'gzinflate'),
        'zlib by libdeflate' => array('libdeflate', array('container' => 'zlib'), 'gzuncompress'),
        'gzip by libdeflate' => array('libdeflate', array('container' => 'gzip'), 'gzdecode'),
    );
    foreach ($native as $title => $way) {
        $runner->test("$title is read by PHP's own decoder", function () use ($lab, $check, $title, $way) {
            list($codec, $options, $decode) = $way;
            $codecs = $lab->codecs();
            $lab->need($codecs[$codec]);
            if (!function_exists($decode)) {
                throw new Skip('the PHP that runs the tests has no zlib');
            }
            $text = Lab::text(20000);
            list($encoded) = $check(array($text), $codec, 6, $options, strtok($title, ' '));
            Failure::unless($decode($encoded) === $text, 'other bytes came out');
        });
    }

    $runner->test('gzdeflate is PHP\'s own function at the level asked for', function () use ($lab, $check) {
        $codecs = $lab->codecs();
        $lab->need($codecs['gzdeflate']);
        if (!function_exists('gzdeflate') || $codecs['gzdeflate']['library'] !== 'zlib ' . ZLIB_VERSION) {
            throw new Skip('the PHP that runs the tests has another zlib', true);
        }
        foreach (array(1, 6, 9) as $level) {
            list($encoded) = $check(array(Lab::text(20000)), 'gzdeflate', $level, array(), 'deflate');
            Failure::unless($encoded === gzdeflate(Lab::text(20000), $level), "other bytes at level $level");
        }
    });

    $runner->test('the level reaches the library, negative ones too', function () use ($lab, $check) {
        $codecs = $lab->codecs();
        $lab->need($codecs['zstd']);
        $sizes = array();
        foreach (array(-7, -1, 1, 19) as $level) {
            list($encoded) = $check(array(Lab::text(30000)), 'zstd', $level, array(), 'zstd');
            $sizes[] = strlen($encoded);
        }
        Failure::unlessSame(4, count(array_unique($sizes)), 'different sizes of ' . implode(', ', $sizes));
        Failure::unlessSame(max($sizes), $sizes[0], 'the largest of ' . implode(', ', $sizes));
    });

    $runner->test('without a level the default is used', function () use ($lab, $check) {
        $codecs = $lab->codecs();
        $lab->need($codecs['gzdeflate']);
        list($plain) = $check(array(Lab::text(20000)), 'gzdeflate', null, array(), 'deflate');
        list($six) = $check(array(Lab::text(20000)), 'gzdeflate', 6, array(), 'deflate');
        Failure::unless($plain === $six, 'the default is not level 6');
    });
};
