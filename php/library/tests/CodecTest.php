<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests;

use PHPUnit\Framework\TestCase;
use ReflectionMethod;
use Weighbridge\Library\Binding\Binding;
use Weighbridge\Library\Binding\Extensions;
use Weighbridge\Library\Binding\Libraries;
use Weighbridge\Library\Binding\WeighbridgeExtension;
use Weighbridge\Library\Codec;
use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Tests\Support\Frameworks;

final class CodecTest extends TestCase
{
    private const CODINGS = ['gzip', 'deflate', 'br', 'zstd'];

    /** @var array<string, true> bindings that this PHP does not have */
    private static array $absent = [];

    public function testEveryBindingIsThere(): void
    {
        self::assertGreaterThan(0, iterator_count(self::bindings()));
        if (self::$absent !== []) {
            Frameworks::skip('absent in this PHP, and not tried: ' . implode(', ', array_keys(self::$absent)), true);
        }
    }

    /** @return iterable<string, array{Binding, string}> */
    public static function bindings(): iterable
    {
        foreach ([new WeighbridgeExtension(), new Extensions(), new Libraries()] as $binding) {
            foreach (self::CODINGS as $coding) {
                $name = get_class($binding) . ", $coding";
                // libdeflate encodes alone.
                if ($binding->name($coding, Binding::ENCODE) === null) {
                    self::$absent[$name] = true;
                    continue;
                }
                yield $name => [$binding, $coding];
            }
        }
    }

    /** @dataProvider bindings */
    public function testRoundTripsAndBounds(Binding $binding, string $coding): void
    {
        $codec = new Codec([$binding, new Extensions(), new Libraries()]);
        foreach (['', 'a', str_repeat('some words, ', 5000), random_bytes(70000)] as $data) {
            foreach ([null, -100, 1, 100] as $level) {
                $encoded = $codec->encode($data, $coding, $level);
                self::assertSame($data, $codec->decode($encoded, $coding, strlen($data)));
                // Another binding than the one that wrote it.
                self::assertSame($data, (new Codec())->decode($encoded, $coding, strlen($data)));
            }
        }
        $bomb = $codec->encode(str_repeat("\0", 1 << 22), $coding);
        $before = memory_get_peak_usage();
        $this->assertFails(static function () use ($codec, $bomb, $coding): void {
            $codec->decode($bomb, $coding, 1 << 16);
        });
        self::assertLessThan($before + (1 << 21), memory_get_peak_usage());
    }

    /** @dataProvider bindings */
    public function testWhatWasCutShortIsRefused(Binding $binding, string $coding): void
    {
        $codec = new Codec([$binding, new Extensions(), new Libraries()]);
        $encoded = $codec->encode(str_repeat('some words, ', 50) . random_bytes(200), $coding);
        for ($length = 0; $length < strlen($encoded); $length += 7) {
            $this->assertFails(static function () use ($codec, $encoded, $coding, $length): void {
                $codec->decode(substr($encoded, 0, $length), $coding, 1 << 16);
            });
        }
    }

    /** @dataProvider bindings */
    public function testStreamsGiveOutWhatWasAddedWhenTheyAreFlushed(Binding $binding, string $coding): void
    {
        $codec = new Codec([$binding]);
        if (!$codec->can($coding, Binding::STREAM)) {
            $this->expectException(CodecFailure::class);
            $codec->stream($coding);
            return;
        }
        // A stream of zstd does not state its size, and its extension decodes none of those.
        $decoder = new Codec([new Libraries(), new Extensions()]);
        $stream = $codec->stream($coding, 1);
        $data = '';
        $encoded = $stream->flush();
        for ($i = 0; $i < 40; $i++) {
            $piece = str_repeat("piece $i ", $i * $i) . ($i === 0 ? '' : random_bytes($i));
            $data .= $piece;
            $added = $stream->add($piece);
            $encoded .= $added;
            if ($i % 7 === 0) {
                $flushed = $stream->flush();
                self::assertNotSame('', $i === 0 ? 'nothing to flush' : $added . $flushed);
                $encoded .= $flushed . $stream->flush();
            }
        }
        self::assertSame($data, $decoder->decode($encoded . $stream->finish(), $coding, strlen($data)));
        // A long one, of which much is decoded from little.
        $stream = $codec->stream($coding, 1);
        $encoded = '';
        for ($i = 0; $i < 200; $i++) {
            $encoded .= $stream->add(str_repeat("\0", 1 << 15));
        }
        self::assertSame(200 << 15, strlen($decoder->decode($encoded . $stream->finish(), $coding, 200 << 15)));
    }

    public function testGzipOfSeveralMembers(): void
    {
        $codec = new Codec([new Extensions()]);
        $members = [str_repeat('one ', 3000), '', random_bytes(3000), 'three'];
        $whole = implode('', array_map('gzencode', $members));
        self::assertSame(implode('', $members), $codec->decode($whole, 'gzip', 1 << 16));
        foreach ([substr($whole, 0, -1), "$whole\x1f\x8b", "{$whole}garbage"] as $broken) {
            $this->assertFails(static function () use ($codec, $broken): void {
                $codec->decode($broken, 'gzip', 1 << 16);
            });
        }
        $this->assertFails(static function () use ($codec): void {
            $codec->decode(gzcompress('a') . gzcompress('b'), 'deflate', 100);
        });
        $this->assertFails(static function () use ($codec): void {
            $codec->decode(str_repeat((string) gzencode(str_repeat('a', 900)), 2), 'gzip', 1000);
        });
    }

    public function testDictionaries(): void
    {
        $tried = 0;
        $dictionary = random_bytes(4000);
        $value = substr($dictionary, 1000, 800) . ' and something else';
        foreach ([new Extensions(), new Libraries(), new WeighbridgeExtension()] as $binding) {
            $codec = new Codec([$binding]);
            if (!$codec->can('zstd', Binding::ENCODE | Binding::DICTIONARY)) {
                continue;
            }
            $tried++;
            $encoded = $codec->encode($value, 'zstd', 3, $dictionary);
            self::assertLessThan(100, strlen($encoded), get_class($binding));
            self::assertSame($value, $codec->decode($encoded, 'zstd', strlen($value), $dictionary));
        }
        if ($tried === 0) {
            Frameworks::skip('zstd: this PHP has no binding with dictionaries', true);
        }
    }

    public function testAPreferredEncoderComesFirstAndIsNotNeeded(): void
    {
        $codec = new Codec([new Extensions(), new Libraries()]);
        self::assertSame('zlib extension', $codec->binding('gzip', Binding::ENCODE));
        self::assertSame('zlib extension', $codec->binding('gzip', Binding::ENCODE, 'gzip'));
        $preferred = (new Libraries())->name('gzip', Binding::ENCODE) !== null ? 'libdeflate through FFI' : 'zlib extension';
        self::assertSame($preferred, $codec->binding('gzip', Binding::ENCODE, 'libdeflate'));
        // libdeflate has no streams.
        self::assertSame('zlib extension', $codec->binding('gzip', Binding::STREAM, 'libdeflate'));
    }

    public function testNoBindingAndNoCoding(): void
    {
        $codec = new Codec([]);
        self::assertFalse($codec->can('gzip', Binding::ENCODE));
        self::assertTrue($codec->can('identity', Binding::ENCODE));
        self::assertSame('as it is', $codec->encode('as it is', 'identity'));
        $this->assertFails(static function () use ($codec): void {
            $codec->encode('a', 'gzip');
        });
        $this->expectExceptionMessage('bzip2: unknown coding; known: identity, gzip');
        $codec->encode('a', 'bzip2');
    }

    public function testCorruptContentRaisesNoWarning(): void
    {
        $codec = new Codec();
        error_clear_last();
        foreach (self::CODINGS as $coding) {
            for ($i = 0; $i < 50; $i++) {
                $this->assertFails(static function () use ($codec, $coding): void {
                    $codec->decode("\x28\xb5\x2f\xfd\xff" . random_bytes(60), $coding, 1000);
                });
            }
        }
        self::assertNull(error_get_last());
    }

    public function testTheSizeThatAZstdFrameStates(): void
    {
        $stated = new ReflectionMethod(Extensions::class, 'statedSize');
        $stated->setAccessible(true);
        $sizes = [
            "\x60" . pack('v', 44) . 'xx' => 300,
            "\x20\x07xx" => 7,
            "\xa0" . pack('V', 1 << 20) => 1 << 20,
            "\xe0" . str_repeat("\xff", 8) => PHP_INT_MAX,
            "\x00xx" => PHP_INT_MAX,
            "\xe0\x01" => PHP_INT_MAX,
        ];
        foreach ($sizes as $frame => $size) {
            self::assertSame($size, $stated->invoke(null, "\x28\xb5\x2f\xfd$frame"), bin2hex($frame));
        }
        self::assertSame(PHP_INT_MAX, $stated->invoke(null, 'no frame'));
    }

    /** @param callable(): void $work */
    private function assertFails(callable $work): void
    {
        try {
            $work();
        } catch (CodecFailure $failure) {
            self::assertStringNotContainsString("\n", $failure->getMessage());
            return;
        }
        self::fail('nothing was refused');
    }
}
