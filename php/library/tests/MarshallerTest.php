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
use Weighbridge\Library\Tests\Support\Frameworks;

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
        if (!(new Codec())->can('zstd', Binding::ENCODE | Binding::DECODE | Binding::DICTIONARY)) {
            Frameworks::skip('zstd: this PHP has no binding with dictionaries', true);
        }
        $path = (string) tempnam(sys_get_temp_dir(), 'weighbridge');
        try {
            $content = random_bytes(3000);
            file_put_contents($path, $content);
            $settings = Settings::fromArray(['value' => ['dictionary' => $path]]);
            $value = substr($content, 500, 300);
            $sealed = (new Envelope($settings))->seal($value);
            self::assertLessThan(60, strlen($sealed));
            self::assertSame($value, (new Envelope($settings))->open($sealed));
            // With another dictionary it is a miss.
            file_put_contents($path, random_bytes(3000));
            $this->expectExceptionMessage('another dictionary');
            (new Envelope($settings))->open($sealed);
        } finally {
            unlink($path);
        }
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

    public function testSymfonysMarshallersWroteBefore(): void
    {
        Frameworks::need('symfony cache', DefaultMarshaller::class);
        $values = self::values();
        $marshaller = new Marshaller();
        $before = [new DefaultMarshaller(false), new DeflateMarshaller(new DefaultMarshaller(false))];
        if (extension_loaded('igbinary')) {
            array_push($before, new DefaultMarshaller(true), new DeflateMarshaller(new DefaultMarshaller(true)));
        }
        foreach ($before as $other) {
            foreach ($other->marshall($values, $failed) as $key => $stored) {
                self::assertEquals($values[$key], $marshaller->unmarshall($stored), $key);
            }
        }
        foreach ($marshaller->marshall($values, $failed) as $key => $stored) {
            self::assertEquals($values[$key], $marshaller->unmarshall($stored), $key);
        }
        self::assertSame([], $failed);
    }

    public function testTheMarshallerForApplicationsWithoutTheLibraryWroteBefore(): void
    {
        Frameworks::need('symfony cache', DefaultMarshaller::class);
        $value = str_repeat('some words ', 300);
        $codec = new Codec();
        foreach (['gzip', 'deflate', 'raw-deflate', 'br', 'zstd'] as $coding) {
            if ($codec->can($coding, Binding::ENCODE)) {
                $stored = "\x01" . $codec->encode(serialize($value), $coding);
                self::assertSame($value, (new Marshaller())->unmarshall($stored), $coding);
            }
        }
    }

    public function testWhatSymfonyCannotSerializeIsListed(): void
    {
        Frameworks::need('symfony cache', DefaultMarshaller::class);
        $stored = (new Marshaller())->marshall(['good' => 1, 'bad' => static function (): void {
        }], $failed);
        self::assertSame([['good'], ['bad']], [array_keys($stored), $failed]);
    }

    public function testACorruptValueIsAnExceptionAndNeverAWrongValue(): void
    {
        Frameworks::need('symfony cache', DefaultMarshaller::class);
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
        Frameworks::need('symfony cache', FilesystemAdapter::class);
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
