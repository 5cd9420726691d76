<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests;

use ArrayObject;
use Exception;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Cache\Adapter\FilesystemAdapter;
use Symfony\Component\Cache\Marshaller\DefaultMarshaller;
use Symfony\Component\Cache\Marshaller\DeflateMarshaller;
use Weighbridge\Library\Binding\Binding;
use Weighbridge\Library\Codec;
use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Envelope;
use Weighbridge\Library\Marshaller;
use Weighbridge\Library\Settings;
use Weighbridge\Library\Settings\InvalidSettings;
use Weighbridge\Library\Tests\Support\Frameworks;
use Weighbridge\Library\Tests\Support\Server;
use Weighbridge\Library\Tests\Support\Zlib;

/** Stored values, by themselves and in Symfony's cache. */
final class MarshallerTest extends TestCase
{
    public function testAValueIsSealedByItsSettings(): void
    {
        $text = str_repeat('some words ', 400);
        foreach (['identity', 'gzip', 'deflate', 'br', 'zstd'] as $name) {
            $settings = Settings::fromArray(['value' => ['codec' => $name, 'min_bytes' => 500, 'level' => 5]]);
            $envelope = new Envelope($settings);
            $sealed = $envelope->seal($text);
            $isSmaller = $name !== 'identity' && (new Codec())->can($name, Binding::ENCODE);
            self::assertSame($isSmaller, strlen($sealed) < 500, $name);
            self::assertSame($text, $envelope->open($sealed));
            $least = str_repeat('a', 500);
            self::assertSame($isSmaller, strlen($envelope->seal($least)) < 100, $name);
            // Below the threshold, and what does not shrink: five bytes more.
            foreach ([substr($text, 0, 499), random_bytes(2000), ''] as $other) {
                $sealed = $envelope->seal($other);
                self::assertSame(strlen($other) + 5, strlen($sealed));
                self::assertSame($other, $envelope->open($sealed));
            }
        }
    }

    public function testAValueWhoseCodecIsAbsentIsRefused(): void
    {
        $sealed = (new Envelope(Settings::fromArray(['value' => ['codec' => 'gzip']])))->seal(str_repeat('a', 2000));
        $this->expectException(CodecFailure::class);
        (new Envelope(null, new Codec([])))->open($sealed);
    }

    public function testATrainedDictionaryForSmallValues(): void
    {
        $files = self::dictionaries(2);
        $value = substr((string) file_get_contents($files[0]), 500, 300);
        try {
            $old = new Envelope(Settings::fromArray(['value' => ['dictionary' => $files[0]]]));
            $sealed = $old->seal($value);
            self::assertLessThan(60, strlen($sealed));
            self::assertSame($value, $old->open($sealed));
            foreach ([63 => "\x06", 64 => "\x17", 1 << 16 => "\x17", (1 << 16) + 1 => "\x16"] as $size => $mark) {
                $sized = str_pad(substr($value, 0, $size), $size, $value);
                self::assertSame($mark, $old->seal($sized)[0], (string) $size);
                self::assertSame($sized, $old->open($old->seal($sized)));
            }
            // While servers change to a new one, they read both, and encode with the first.
            $both = new Envelope(Settings::fromArray(['value' => ['dictionary' => [$files[1], $files[0]]]]));
            self::assertSame($value, $both->open($sealed));
            self::assertGreaterThan(300, strlen($both->seal($value)));
            $value = substr((string) file_get_contents($files[1]), 500, 300);
            self::assertLessThan(60, strlen($both->seal($value)));
            $this->expectException(CodecFailure::class);
            $this->expectExceptionMessage('another dictionary');
            $old->open($both->seal($value));
        } finally {
            array_map('unlink', $files);
        }
    }

    public function testADictionaryThatCannotBeReadIsAnError(): void
    {
        $files = self::dictionaries(1);
        $empty = (string) tempnam(sys_get_temp_dir(), 'weighbridge');
        try {
            foreach (['/nowhere', sys_get_temp_dir(), $empty] as $path) {
                foreach ([$path, [$files[0], $path], [$path, $files[0]]] as $setting) {
                    try {
                        new Envelope(Settings::fromArray(['value' => ['dictionary' => $setting]]));
                        self::fail("$path is not noticed");
                    } catch (InvalidSettings $invalid) {
                        self::assertStringContainsString("value.dictionary: $path is empty, absent", $invalid->getMessage());
                    }
                }
            }
        } finally {
            array_map('unlink', [$empty, $files[0]]);
        }
    }

    public function testACodecThatThisPhpLacksIsAnErrorWhereItIsAskedFor(): void
    {
        self::assertSame('a', (new Envelope(null, new Codec([])))->open((new Envelope())->seal('a')));
        foreach (['br' => ['codec' => 'br'], 'zstd with dictionaries' => ['dictionary' => __FILE__]] as $codec => $value) {
            try {
                new Envelope(Settings::fromArray(['value' => $value]), new Codec([]));
                self::fail("$codec is not refused");
            } catch (InvalidSettings $invalid) {
                self::assertStringStartsWith("value.codec is $codec, which no extension", $invalid->getMessage());
            }
        }
        $this->expectException(InvalidSettings::class);
        $this->expectExceptionMessage('value.codec is zstd, which no extension of this PHP (cli) has');
        new Envelope(Settings::fromArray(['value' => ['codec' => 'zstd']]), new Codec([new Zlib()]));
    }

    /** A command has FFI, a web server's PHP has not: what one stores by default, the other reads. */
    public function testWhatIsStoredByDefaultIsReadWithoutFfi(): void
    {
        $seal = 'require $argv[1]; $envelope = new Weighbridge\Library\Envelope();'
            . 'echo base64_encode($envelope->seal(str_repeat("words ", 900)));';
        $sealed = self::printed($seal, [__DIR__ . '/../autoload.php'], ['ffi.enable' => '1']);
        self::assertLessThan(1000, strlen($sealed));
        $open = 'require $argv[1]; echo strlen((new Weighbridge\Library\Envelope())->open(base64_decode($argv[2])));';
        $opened = self::printed($open, [__DIR__ . '/../autoload.php', $sealed], ['ffi.enable' => '0']);
        self::assertSame('5400', $opened);
    }

    public function testACodecThroughFfiIsSaidOnce(): void
    {
        $binding = (new Codec())->binding('zstd', Binding::ENCODE | Binding::DECODE);
        if ($binding !== 'libzstd through FFI') {
            Frameworks::skip('zstd: this PHP does not reach it through FFI', true);
        }
        $code = 'require $argv[1]; foreach ([1, 2] as $i) { new Weighbridge\Library\Envelope('
            . 'Weighbridge\Library\Settings::fromArray(json_decode($argv[2], true))); }';
        $settings = ['ffi.enable' => '1', 'display_errors' => 'stderr', 'log_errors' => '0', 'error_log' => ''];
        foreach (['zstd' => 1, 'gzip' => 0, 'identity' => 0] as $codec => $times) {
            $given = (string) json_encode(['value' => ['codec' => $codec]]);
            $printed = self::printed($code, [__DIR__ . '/../autoload.php', $given], $settings);
            self::assertSame($times, substr_count($printed, "value.codec $codec is"), $printed);
        }
    }

    public function testWhatCouldNotBeOpenedIsNotEncoded(): void
    {
        $envelope = new Envelope(null, null, 2000);
        foreach ([2000 => true, 2001 => false, 9000 => false] as $size => $isEncoded) {
            $value = str_repeat('a', $size);
            $sealed = $envelope->seal($value);
            self::assertSame($isEncoded, strlen($sealed) < 100, (string) $size);
            self::assertSame($value, $envelope->open($sealed));
        }
        $this->expectException(CodecFailure::class);
        (new Envelope(null, null, 1999))->open($envelope->seal(str_repeat('a', 2000)));
    }

    public function testWhatTheFirstReleaseSealedIsRead(): void
    {
        self::assertSame('06eeb1b84561', bin2hex((new Envelope())->seal('a')));
        $sealed = [
            'gzip' => '07608eed631f8b08000000000000034b4c1c05a360148c8251300a46c1500700393e13a8d0070000',
            'deflate' => '0ebe802791789c4b4c1c05a360148c8251300a46c150070064c6f5ef',
            'br' => '0fc3499d4d1bcf070024c2c2b1401207',
            'zstd' => '16c26f66ca28b52ffd60d00645000008610100ccf33b21',
        ];
        foreach ($sealed as $codec => $stored) {
            if ((new Codec())->can($codec, Binding::DECODE)) {
                self::assertSame(str_repeat('a', 2000), (new Envelope())->open((string) hex2bin($stored)), $codec);
            }
        }
    }

    /** @return iterable<array{string, string}> */
    public static function unreadable(): iterable
    {
        yield ['', 'the stored value is not a sealed one'];
        yield ['plain', 'the stored value is not a sealed one'];
        yield ["\x06", 'the stored value was cut short or changed'];
        yield ["\x07abcd", 'the stored value was cut short or changed'];
    }

    /** @dataProvider unreadable */
    public function testWhatIsNoSealedValueIsRefused(string $stored, string $message): void
    {
        $this->expectException(CodecFailure::class);
        $this->expectExceptionMessage($message);
        (new Envelope())->open($stored);
    }

    public function testEveryChangedByteIsFound(): void
    {
        $envelope = new Envelope(Settings::fromArray(['value' => ['codec' => 'gzip', 'min_bytes' => 100]]));
        foreach (['short', str_repeat('some words ', 100)] as $value) {
            $sealed = $envelope->seal($value);
            for ($at = 0; $at < strlen($sealed); $at++) {
                $flipped = $sealed;
                $flipped[$at] = chr(ord($sealed[$at]) ^ (1 << ($at % 8)));
                foreach ([$flipped, substr($sealed, 0, $at)] as $corrupt) {
                    try {
                        $envelope->open($corrupt);
                        self::fail("byte $at is not noticed");
                    } catch (CodecFailure $failure) {
                        self::assertStringNotContainsString("\n", $failure->getMessage());
                    }
                }
            }
        }
    }

    public function testValuesOfBeforeAreLeftToTheMarshallerInside(): void
    {
        self::needSymfonysCache();
        $values = self::values();
        $before = [new DefaultMarshaller(false), new DeflateMarshaller(new DefaultMarshaller(false))];
        if (extension_loaded('igbinary')) {
            array_push($before, new DefaultMarshaller(true), new DeflateMarshaller(new DefaultMarshaller(true)));
        }
        foreach ($before as $inner) {
            $marshaller = new Marshaller($inner);
            foreach ($inner->marshall($values, $failed) as $key => $stored) {
                self::assertEquals($values[$key], $marshaller->unmarshall($stored), $key);
            }
            foreach ($marshaller->marshall($values, $failed) as $key => $stored) {
                self::assertTrue(Envelope::isSealed($stored));
                self::assertEquals($values[$key], $marshaller->unmarshall($stored), $key);
            }
            self::assertSame([], $failed);
        }
    }

    public function testItsOwnMarshallerInsideSerializesByTheSettings(): void
    {
        self::needSymfonysCache();
        $value = array_fill(0, 5000, 'some words');
        foreach (['serialize' => 'a:5000', 'igbinary' => "\0\0\0\2"] as $serializer => $start) {
            if ($serializer === 'igbinary' && !extension_loaded('igbinary')) {
                continue;
            }
            $marshaller = new Marshaller(null, Settings::fromArray(['value' => ['serializer' => $serializer]]));
            $stored = $marshaller->marshall(['key' => $value], $failed)['key'];
            self::assertLessThan(20000, strlen($stored));
            self::assertStringStartsWith($start, (new Envelope())->open($stored));
            self::assertSame($value, $marshaller->unmarshall($stored));
        }
    }

    public function testWhatSymfonyCannotSerializeIsListed(): void
    {
        self::needSymfonysCache();
        $stored = (new Marshaller())->marshall(['good' => 1, 'bad' => static function (): void {
        }], $failed);
        self::assertSame([['good'], ['bad']], [array_keys($stored), $failed]);
    }

    public function testACorruptValueIsAnExceptionAndNeverAWrongValue(): void
    {
        self::needSymfonysCache();
        $marshaller = new Marshaller();
        foreach ($marshaller->marshall(self::values(), $failed) as $key => $stored) {
            for ($at = 0; $at < min(300, strlen($stored)); $at++) {
                $flipped = $stored;
                $flipped[$at] = chr(ord($stored[$at]) ^ (1 << ($at % 8)));
                foreach ([$flipped, substr($stored, 0, $at)] as $corrupt) {
                    $isRefused = false;
                    try {
                        $marshaller->unmarshall($corrupt);
                    } catch (Exception $exception) {
                        $isRefused = true;
                    }
                    self::assertTrue($isRefused, "$key, byte $at");
                }
            }
        }
    }

    public function testACorruptFileIsAMissForSymfonysCache(): void
    {
        self::needSymfonysCache();
        $folder = sys_get_temp_dir() . '/weighbridge-' . bin2hex(random_bytes(6));
        $cache = static function () use ($folder): FilesystemAdapter {
            return new FilesystemAdapter('test', 0, $folder, new Marshaller());
        };
        try {
            $item = $cache()->getItem('page');
            $cache()->save($item->set(str_repeat('some words ', 300)));
            self::assertSame(str_repeat('some words ', 300), $cache()->getItem('page')->get());
            exec('find ' . escapeshellarg($folder) . ' -type f', $files);
            self::assertCount(1, $files);
            $content = (string) file_get_contents($files[0]);
            foreach ([substr($content, 0, -4), substr_replace($content, 'X', -3, 1)] as $corrupt) {
                file_put_contents($files[0], $corrupt);
                self::assertFalse($cache()->getItem('page')->isHit());
            }
            $cache()->save($cache()->getItem('page')->set('new'));
            self::assertSame('new', $cache()->getItem('page')->get());
        } finally {
            $cache()->clear();
            exec('rm -r ' . escapeshellarg($folder));
        }
    }

    private static function needSymfonysCache(): void
    {
        if (PHP_VERSION_ID < 80000) {
            Frameworks::skip('symfony cache: its marshaller needs PHP 8', true);
        }
        Frameworks::need('symfony cache', FilesystemAdapter::class);
    }

    /**
     * Files of random content, which serve as dictionaries.
     *
     * @return list<string>
     */
    private static function dictionaries(int $count): array
    {
        if (!(new Codec())->can('zstd', Binding::ENCODE | Binding::DECODE | Binding::DICTIONARY)) {
            Frameworks::skip('zstd: this PHP has no binding with dictionaries', true);
        }
        $files = [];
        for ($i = 0; $i < $count; $i++) {
            $files[] = (string) tempnam(sys_get_temp_dir(), 'weighbridge');
            file_put_contents($files[$i], random_bytes(3000));
        }
        return $files;
    }

    /**
     * What code prints in a PHP of its own, its errors too.
     *
     * @param list<string>          $arguments
     * @param array<string, string> $settings
     */
    private static function printed(string $code, array $arguments, array $settings = []): string
    {
        $command = Server::php();
        foreach ($settings as $name => $value) {
            array_push($command, '-d', "$name=$value");
        }
        array_push($command, '-r', $code, '--', ...$arguments);
        exec(implode(' ', array_map('escapeshellarg', $command)) . ' 2>&1', $lines, $status);
        self::assertSame(0, $status, implode("\n", $lines));
        return implode("\n", $lines);
    }

    /** @return array<string, mixed> */
    private static function values(): array
    {
        return [
            'text' => str_repeat('some words ', 300),
            'rows' => array_fill(0, 100, ['id' => 7, 'name' => 'a name', 'price' => 1.5, 'tags' => ['a', 'b']]),
            'bytes' => "\x01\x02\x03",
            'null' => null,
            'false' => false,
            'number' => 7,
            'object' => new ArrayObject([1, 2, 3]),
        ];
    }
}
