<?php

declare(strict_types=1);

return function (Runner $runner): void {
    $page = str_repeat('<p>Call me Ishmael. Some years ago, never mind how long precisely.</p>', 500);
    $runner->test('gzip and deflate are read by PHP\'s own zlib', function () use ($page): void {
        if (!extension_loaded('zlib')) {
            throw new Skip('this PHP has no zlib');
        }
        foreach (['gzip' => 'gzdecode', 'deflate' => 'gzuncompress', 'ZLIB' => 'gzuncompress'] as $coding => $decode) {
            foreach ([null, 0, 1, 6, 12] as $level) {
                Expect::same($page, $decode(weighbridge_encode($page, $coding, $level)), "$coding $level");
            }
        }
        Expect::same($page, weighbridge_decode(gzencode($page), 'gzip', strlen($page)));
        Expect::same($page, weighbridge_decode(gzcompress($page), 'deflate', strlen($page)));
    });
    $runner->test('every coding comes back, with a dictionary where it takes one', function () use ($page): void {
        foreach (['gzip', 'deflate', 'br', 'zstd'] as $coding) {
            $encoded = weighbridge_encode($page, $coding);
            Expect::true(strlen($encoded) < strlen($page) / 20, "$coding does not compress");
            Expect::same($page, weighbridge_decode($encoded, $coding, strlen($page)), $coding);
            Expect::same('', weighbridge_decode(weighbridge_encode('', $coding), $coding, 0), "nothing in $coding");
        }
        $noise = random_bytes(20_000);
        $encoded = weighbridge_encode("{$noise}new", 'zstd', null, $noise);
        Expect::true(strlen($encoded) < 200, 'zstd does not use the dictionary: ' . strlen($encoded));
        Expect::same("{$noise}new", weighbridge_decode($encoded, 'zstd', 30_000, $noise));
    });
    $runner->test('wrong arguments are named', function (): void {
        $wrong = ValueError::class;
        Expect::throws($wrong, 'unknown coding "lzma"', fn() => weighbridge_encode('a', 'lzma'));
        Expect::throws($wrong, 'unknown coding ""', fn() => weighbridge_decode('a', '', 1));
        Expect::throws($wrong, 'gzip has no level 13', fn() => weighbridge_encode('a', 'gzip', 13));
        Expect::throws($wrong, 'zstd has no level -8', fn() => weighbridge_encode('a', 'zstd', -8));
        Expect::throws($wrong, 'br has no level', fn() => weighbridge_encode('a', 'br', PHP_INT_MIN));
        Expect::throws($wrong, 'gzip takes no dictionary', fn() => weighbridge_encode('a', 'gzip', null, 'd'));
        Expect::throws($wrong, 'br takes no dictionary', fn() => weighbridge_encode('a', 'br', null, 'd'));
        Expect::throws($wrong, 'unknown coding "dcz"', fn() => weighbridge_encode('a', 'dcz', null, 'd'));
        Expect::throws($wrong, 'max_bytes is -1', fn() => weighbridge_decode('a', 'gzip', -1));
        Expect::throws($wrong, 'unknown coding', fn() => new WeighbridgeEncoder('lzma'));
        Expect::throws($wrong, 'no level', fn() => new WeighbridgeEncoder('gzip', 99));
    });
    $runner->test('damaged data and data that is too large are refused', function () use ($page): void {
        foreach (['gzip', 'deflate', 'br', 'zstd'] as $coding) {
            $encoded = weighbridge_encode($page, $coding);
            $broken = RuntimeException::class;
            $large = fn() => weighbridge_decode($encoded, $coding, strlen($page) - 1);
            Expect::throws($broken, 'more than the ' . (strlen($page) - 1) . ' bytes allowed', $large);
            Expect::throws($broken, 'damaged', fn() => weighbridge_decode(substr($encoded, 0, -1), $coding, 1 << 20));
            Expect::throws($broken, 'damaged', fn() => weighbridge_decode("{$encoded}x", $coding, 1 << 20));
            Expect::throws($broken, '', fn() => weighbridge_decode('', $coding, 1 << 20));
            Expect::throws($broken, '', fn() => weighbridge_decode('garbage', $coding, PHP_INT_MAX));
        }
    });
    $runner->test('an encoder sends what was added, when it is flushed', function () use ($page): void {
        foreach (['gzip' => null, 'deflate' => null, 'br' => null, 'zstd' => 'words'] as $coding => $dictionary) {
            $encoder = new WeighbridgeEncoder($coding, null, $dictionary);
            $sent = $encoder->add($page) . $encoder->flush() . $encoder->add('end') . $encoder->add('') . $encoder->finish();
            Expect::same("{$page}end", weighbridge_decode($sent, $coding, 1 << 20, $dictionary), $coding);
            foreach (['flush', 'finish'] as $step) {
                Expect::throws(LogicException::class, 'the encoder is finished', fn() => $encoder->$step());
            }
            Expect::throws(LogicException::class, 'the encoder is finished', fn() => $encoder->add('more'));
        }
        $encoder = new WeighbridgeEncoder('gzip');
        $inflate = inflate_init(ZLIB_ENCODING_GZIP);
        Expect::same('first', inflate_add($inflate, $encoder->add('first') . $encoder->flush(), ZLIB_SYNC_FLUSH));
        Expect::same('second', inflate_add($inflate, $encoder->add('second') . $encoder->finish()));
    });
    $runner->test('an encoder is neither copied, stored, extended nor left empty', function (): void {
        $encoder = new WeighbridgeEncoder('gzip');
        Expect::throws(Error::class, 'clone', fn() => clone $encoder);
        Expect::throws(Exception::class, 'Serialization', fn() => serialize($encoder));
        Expect::throws(Exception::class, 'Unserialization', fn() => unserialize('O:18:"WeighbridgeEncoder":0:{}'));
        $class = new ReflectionClass($encoder);
        Expect::throws(ReflectionException::class, 'final', fn() => $class->newInstanceWithoutConstructor());
        Expect::throws(ValueError::class, 'unknown coding', fn() => $encoder->__construct('lzma'));
        Expect::same('ab', gzdecode($encoder->add('ab') . $encoder->finish()), 'after a constructor that failed');
    });
    $runner->test('panics become errors, and what follows works', function (): void {
        if (ini_get('weighbridge.fault') === false) {
            throw new Skip('a build without debug assertions has no faults', true);
        }
        $encoder = new WeighbridgeEncoder('gzip');
        $encoded = weighbridge_encode('a', 'gzip');
        $calls = [
            'encode' => fn() => weighbridge_encode('a', 'gzip'),
            'decode' => fn() => weighbridge_decode($encoded, 'gzip', 10),
            'encoder' => fn() => $encoder->add('a'),
        ];
        foreach ($calls as $place => $call) {
            ini_set('weighbridge.fault', $place);
            for ($i = 0; $i < 3; ++$i) {
                Expect::throws(Error::class, 'Rust panic', $call);
            }
            ini_set('weighbridge.fault', '');
            $call();
        }
    });
    $runner->test('settings that are not understood are refused in words, and stay what they were', function (): void {
        foreach (['codings' => 'gzip;br', 'level' => 'six', 'min_bytes' => '1 KB', 'breach' => 'same-site'] as $name => $value) {
            $before = ini_get("weighbridge.$name");
            Expect::throws(ErrorException::class, "weighbridge.$name = \"$value\" is not understood", function () use ($name, $value) {
                ini_set("weighbridge.$name", $value);
            });
            Expect::same($before, ini_get("weighbridge.$name"), $name);
        }
    });
    $runner->test('versions are told', function (): void {
        ob_start();
        (new ReflectionExtension('weighbridge'))->info();
        $info = ob_get_clean();
        foreach (['Weighbridge', 'Brotli', 'Zstandard'] as $what) {
            Expect::true(preg_match("/^$what => \d+\.\d+/m", $info) === 1, "phpinfo() has no version of $what");
        }
    });
};
