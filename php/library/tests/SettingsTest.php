<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests;

use PHPUnit\Framework\TestCase;
use Weighbridge\Library\Settings;
use Weighbridge\Library\Settings\InvalidSettings;

final class SettingsTest extends TestCase
{
    private const WHOLE = [
        'schema' => 1,
        'page' => [
            'rules' => [
                ['coding' => 'zstd', 'codec' => 'zstd', 'level' => -3, 'min_bytes' => 500, 'types' => ['Text/HTML']],
                ['coding' => 'gzip', 'codec' => 'libdeflate', 'level' => 12, 'min_bytes' => 860, 'types' => []],
            ],
            'breach' => 'cookies',
        ],
        'value' => [
            'codec' => 'zstd', 'level' => 3, 'min_bytes' => 100, 'serializer' => 'serialize', 'dictionary' => '/a/b',
        ],
        'download' => ['method' => 'x-accel-redirect', 'prefix' => '/internal/', 'root' => '/srv/files'],
    ];

    public function testEverythingThatAPolicySays(): void
    {
        $settings = Settings::fromArray(self::WHOLE);
        [$zstd, $gzip] = $settings->page['rules'];
        self::assertSame(['zstd', 'zstd', -3, 500], [$zstd->coding, $zstd->codec, $zstd->level, $zstd->minBytes]);
        self::assertTrue($zstd->isFor('text/html'));
        self::assertFalse($zstd->isFor('text/css'));
        self::assertSame(['libdeflate', 12], [$gzip->codec, $gzip->level]);
        self::assertTrue($gzip->isFor('application/ld+json'));
        self::assertFalse($gzip->isFor('image/jpeg'));
        self::assertSame('cookies', $settings->page['breach']);
        self::assertSame([100, 'serialize', ['/a/b']], [
            $settings->value['minBytes'], $settings->value['serializer'], $settings->value['dictionaries'],
        ]);
        self::assertSame('x-accel-redirect', $settings->download['method']);
        self::assertSame('/srv/files', $settings->download['root']);
    }

    public function testWhatIsAbsentHasItsDefault(): void
    {
        $settings = Settings::fromArray(['schema' => 1, 'value' => ['codec' => 'gzip']]);
        self::assertEquals(Settings::defaults()->page, $settings->page);
        self::assertSame(['gzip', 6], [$settings->value['codec'], $settings->value['level']]);
        $value = Settings::defaults()->value;
        self::assertSame(['deflate', 6, 1024, 'serialize', []], [
            $value['codec'], $value['level'], $value['minBytes'], $value['serializer'], $value['dictionaries'],
        ]);
        $value = Settings::fromArray(['value' => ['dictionary' => ['/a', '/b']]])->value;
        self::assertSame(0, Settings::fromArray(['value' => ['min_bytes' => 0]])->value['minBytes']);
        self::assertSame(['zstd', 6, ['/a', '/b']], [$value['codec'], $value['level'], $value['dictionaries']]);
        self::assertSame([], Settings::fromArray(['page' => ['rules' => []]])->page['rules']);
    }

    public function testMethodsOfDownloads(): void
    {
        foreach (['auto', 'x-accel-redirect', 'x-sendfile', 'x-lighttpd-send-file', 'stream'] as $method) {
            $settings = Settings::fromArray(['download' => ['method' => $method, 'prefix' => '/internal/']]);
            self::assertSame($method, $settings->download['method']);
        }
        self::assertSame(['auto', null, null], array_values(Settings::defaults()->download));
    }

    /** @return iterable<string, array{array<string, mixed>, string}> */
    public static function wrong(): iterable
    {
        yield 'a key' => [['pages' => []], 'unknown key pages; did you mean page?'];
        yield 'a key below' => [['value' => ['lvl' => 3]], 'unknown key value.lvl; did you mean level?'];
        yield 'a key of a rule' => [
            ['page' => ['rules' => [['coding' => 'gzip', 'window' => 1]]]],
            'unknown key page.rules[0].window; known: coding, codec, level, min_bytes, types',
        ];
        yield 'a schema' => [['schema' => 2], 'schema is 2, expected an integer of 1 to 1'];
        yield 'a type' => [['value' => ['level' => '3']], 'value.level is "3", expected an integer of 0 to 12'];
        yield 'a level' => [
            ['page' => ['rules' => [['coding' => 'gzip', 'level' => 13]]]],
            'page.rules[0].level is 13, expected an integer of 0 to 12',
        ];
        yield 'a window that browsers refuse' => [
            ['page' => ['rules' => [['coding' => 'zstd', 'level' => 20]]]],
            'page.rules[0].level is 20, expected an integer of -7 to 19',
        ];
        yield 'a coding' => [
            ['page' => ['rules' => [['coding' => 'bzip2']]]],
            'page.rules[0].coding is "bzip2", expected one of: gzip, deflate, br, zstd',
        ];
        yield 'no coding' => [
            ['page' => ['rules' => [[]]]],
            'page.rules[0].coding is "", expected one of: gzip, deflate, br, zstd',
        ];
        yield 'a list' => [['page' => ['rules' => 'gzip']], 'page.rules is "gzip", expected a list of arrays'];
        yield 'a section' => [['page' => 'gzip'], 'page is "gzip", expected an array'];
        yield 'a map of rules' => [['page' => ['rules' => ['a' => []]]], 'page.rules is array, expected a list of arrays'];
        yield 'a prefix' => [
            ['download' => ['method' => 'x-accel-redirect']],
            'download.prefix must be the path of an internal location, such as /internal/',
        ];
        yield 'a field in a prefix' => [
            ['download' => ['prefix' => "/a\r\nSet-Cookie: b"]],
            'download.prefix must be the path of an internal location, such as /internal/',
        ];
        yield 'a dictionary' => [
            ['value' => ['codec' => 'gzip', 'dictionary' => '/a']],
            'value.dictionary is for zstd, and the codec is gzip',
        ];
        yield 'a list of dictionaries' => [
            ['value' => ['dictionary' => ['/a', 7]]],
            'value.dictionary is array, expected a list of texts',
        ];
        yield 'a hostile key' => [["a\nb\e[31m" => 1], 'unknown key a?b?[31m; known: schema, page, value, download'];
    }

    /**
     * @dataProvider wrong
     * @param array<string, mixed> $settings
     */
    public function testWhatIsWrongIsSaidInOneLine(array $settings, string $message): void
    {
        $this->expectException(InvalidSettings::class);
        $this->expectExceptionMessageMatches('/^' . preg_quote($message, '/') . '$/D');
        Settings::fromArray($settings);
    }

    public function testAFile(): void
    {
        $path = (string) tempnam(sys_get_temp_dir(), 'weighbridge');
        try {
            file_put_contents($path, '<?php return ' . var_export(self::WHOLE, true) . ';');
            self::assertEquals(Settings::fromArray(self::WHOLE), Settings::fromFile($path));
            $codes = ["<?php\nreturn [;" => 2, "<?php\n\nthrow new Exception('a');" => 3, '<?php return 1;' => null];
            foreach ($codes as $code => $line) {
                file_put_contents($path, $code);
                try {
                    Settings::fromFile($path);
                    self::fail('it was read');
                } catch (InvalidSettings $invalid) {
                    $start = $line === null ? "$path: it returns integer, expected an array" : "$path:$line: ";
                    self::assertStringStartsWith($start, $invalid->getMessage());
                }
            }
            file_put_contents($path, '<?php return ["schema" => 3];');
            $this->expectExceptionMessage("$path: schema is 3,");
            Settings::fromFile($path);
        } finally {
            unlink($path);
        }
    }

    public function testAnAbsentFile(): void
    {
        $this->expectExceptionMessage('/nowhere/settings.php: no such file');
        Settings::fromFile('/nowhere/settings.php');
    }
}
