<?php
/** Cells on PHP values: serializers with codecs, and codecs that take values themselves. */

return function (Runner $runner, Lab $lab) {
    $all = array('encode', 'compress', 'decode', 'decompress');
    $text = serialize(Lab::value());
    $serialized = array('serializer' => 'serialize', 'value' => 'serialize', 'phases' => $all);

    foreach ($lab->worker()->ask(array('op' => 'describe', 'id' => 1))['serializers'] as $serializer) {
        foreach (array('identity', 'gzdeflate', 'zstd') as $codec) {
            $name = $serializer['name'];
            $runner->test("$name with $codec brings a value back", function () use ($lab, $serializer, $codec, $all, $text) {
                $lab->need($serializer);
                $codecs = $lab->codecs();
                $lab->need($codecs[$codec]);
                $dump = $lab->folder->name();
                $other = array('serializer' => $serializer['name'], 'value' => 'serialize', 'phases' => $all, 'dump' => $dump);
                $reply = $lab->worker()->ask($lab->visit(array($text), $codec, null, $other));
                Failure::unless(!isset($reply['fault']), 'fault: ' . json_encode($reply));
                Failure::unlessSame(true, $reply['verified'], 'verified');
                Failure::unlessSame($all, array_keys($reply['phases']), 'phases');
                if ($codec === 'identity') {
                    Failure::unlessSame($reply['decoded'], $reply['encoded'], 'lengths');
                    Failure::unlessSame($reply['sha256_decoded'], hash_file('sha256', $dump), 'digest of the dump');
                }
                if ($serializer['name'] === 'serialize') {
                    Failure::unlessSame(array(strlen($text)), $reply['decoded'], 'decoded');
                }
            });
        }
    }

    $family = array();
    for ($i = 0; $i < 24; ++$i) {
        $family[] = serialize(array('id' => $i, 'of' => Lab::value(), 'text' => Lab::text(300 + $i)));
    }
    foreach (array('serialize', 'igbinary', null) as $serializer) {
        $title = $serializer === null ? 'bytes' : "values by $serializer";
        $runner->test("a family of $title is encoded one by one, and its first alone beside that", function () use ($lab, $serializer, $all, $family) {
            foreach ($lab->worker()->ask(array('op' => 'describe', 'id' => 1))['serializers'] as $known) {
                if ($known['name'] === $serializer) {
                    $lab->need($known);
                }
            }
            $form = $serializer === null ? array() : array('serializer' => $serializer, 'value' => 'serialize', 'phases' => $all);
            $ask = function (array $items, $other) use ($lab, $form) {
                $reply = $lab->worker()->ask($lab->visit($items, 'gzdeflate', 6, $form + $other + array('memory' => true)));
                Failure::unless(!isset($reply['fault']), 'fault: ' . json_encode($reply));
                return $reply;
            };
            $reply = $ask($family, array('family' => true));
            Failure::unlessSame(array('encode', 'decode'), array_keys($reply['again']), 'phases again');
            Failure::unlessSame(24, count($reply['encoded']), 'encoded');
            foreach (array(0, 7, 23) as $i) {
                $one = $ask(array($family[$i]), array());
                Failure::unlessSame(array(), $one['again'], 'again without a family');
                Failure::unlessSame(array($reply['decoded'][$i], $reply['encoded'][$i]), array($one['decoded'][0], $one['encoded'][0]), "item $i");
            }
        });
    }

    $runner->test('symfony-deflate writes what serialize and gzdeflate would', function () use ($lab, $text) {
        $codecs = $lab->codecs();
        $lab->need($codecs['symfony-deflate']);
        Failure::unlessSame(true, $codecs['symfony-deflate']['takes_value'], 'takes_value');
        $visit = $lab->visit(array($text), 'symfony-deflate', null, array('value' => 'serialize'));
        $symfony = $lab->worker()->ask($visit);
        Failure::unless(!isset($symfony['fault']), 'fault: ' . json_encode($symfony));
        Failure::unlessSame(true, $symfony['verified'], 'verified');
        $plain = $lab->worker()->ask($lab->visit(array($text), 'gzdeflate'));
        foreach (array('decoded', 'encoded', 'format', 'sha256_decoded', 'sha256_encoded') as $field) {
            Failure::unlessSame($plain[$field], $symfony[$field], $field);
        }
    });

    $runner->test('phpredis packs values by its own options', function () use ($lab) {
        $codecs = $lab->codecs();
        $lab->need($codecs['phpredis']);
        Failure::unlessSame(true, $codecs['phpredis']['takes_value'], 'takes_value');
        $rows = serialize(array_fill(0, 200, array('id' => 7, 'name' => 'a name')));
        $sizes = array();
        foreach (array('zstd', 'lz4', 'lzf') as $compression) {
            foreach (array('php', 'igbinary') as $serializer) {
                $options = array('compression' => $compression, 'serializer' => $serializer);
                $visit = $lab->visit(array($rows), 'phpredis', null, array('value' => 'serialize', 'options' => $options));
                $reply = $lab->worker()->ask($visit);
                if (isset($reply['fault']) && $reply['fault']['kind'] === 'missing') {
                    continue;
                }
                Failure::unless(!isset($reply['fault']), "$compression, $serializer: " . json_encode($reply));
                Failure::unlessSame(true, $reply['verified'], "$compression, $serializer");
                $sizes["$compression, $serializer"] = $reply['encoded'][0];
                Failure::unless($reply['encoded'][0] * 5 < strlen($rows), "$compression, $serializer: " . json_encode($reply));
            }
        }
        Failure::unlessSame(count($sizes), count(array_unique($sizes)), 'settings that make different bytes');
    });

    $bad = array(
        'a value with other classes' => array('payload', 'other classes', serialize(array(new ArrayObject(array(1))))),
        'a value that refers to itself' => array('payload', 'itself', 'a:1:{i:0;R:1;}'),
        'a text that is no value' => array('payload', 'not a serialized', 'hello'),
    );
    foreach ($bad as $title => $case) {
        $runner->test("$title is refused", function () use ($lab, $case, $serialized) {
            list($kind, $message, $blob) = $case;
            if ($message === 'other classes') {
                $version = $lab->worker()->ask(array('op' => 'describe', 'id' => 1))['version'];
                if (version_compare($version, '7.0', '<')) {
                    throw new Skip('before PHP 7.0 classes cannot be kept out while reading', true);
                }
            }
            $reply = $lab->worker()->ask($lab->visit(array($blob), 'identity', null, $serialized));
            Failure::unlessFault($reply, $kind, $message);
        });
    }

    $runner->test('a value without its form is refused', function () use ($lab, $text) {
        $reply = $lab->worker()->ask($lab->visit(array($text), 'identity', null, array('serializer' => 'serialize')));
        Failure::unlessFault($reply, 'parameter', '`serialize`');
    });

    $runner->test('false and null are values like others', function () use ($lab, $serialized) {
        foreach (array(false, null, 0, '', array()) as $value) {
            $reply = $lab->worker()->ask($lab->visit(array(serialize($value)), 'identity', null, $serialized));
            Failure::unlessSame(true, isset($reply['verified']) && $reply['verified'], 'verified ' . json_encode($reply));
        }
    });

    $runner->test('an unknown serializer is named', function () use ($lab, $text) {
        $other = array('serializer' => 'sericalize', 'value' => 'serialize');
        $reply = $lab->worker()->ask($lab->visit(array($text), 'identity', null, $other));
        Failure::unlessFault($reply, 'parameter', 'unknown serializer `sericalize`');
    });
};
