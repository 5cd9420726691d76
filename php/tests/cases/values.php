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
