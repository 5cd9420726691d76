<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests;

use PHPUnit\Framework\TestCase;
use Weighbridge\Library\Binding\Binding;
use Weighbridge\Library\Binding\Libraries;
use Weighbridge\Library\Codec;
use Weighbridge\Library\Head;
use Weighbridge\Library\Page;
use Weighbridge\Library\Request;
use Weighbridge\Library\Settings;
use Weighbridge\Library\Tests\Support\Frameworks;
use Weighbridge\Library\Tests\Support\Zlib;

/** The rules that the library and the extension share, by the one table of their cases. */
final class RulesTest extends TestCase
{
    private const TABLE = __DIR__ . '/../../rules/cases.json';

    private const HTML = ['Content-Type' => 'text/html'];

    /** @return array<mixed> */
    private static function table(string $name): array
    {
        if (!is_file(self::TABLE)) {
            Frameworks::skip('the table of cases is not beside the library', true);
        }
        $tables = json_decode((string) file_get_contents(self::TABLE), true);
        self::assertIsArray($tables);
        self::assertNotEmpty($tables[$name]);
        return $tables[$name];
    }

    public function testDefaults(): void
    {
        $rules = Settings::defaults()->page['rules'];
        self::assertSame(self::table('offered'), array_column($rules, 'coding'));
        self::assertSame(self::table('levels'), array_column($rules, 'level', 'coding'));
    }

    public function testNegotiation(): void
    {
        foreach (self::table('negotiation') as $case) {
            $request = new Request('GET', $case['accept'] === null ? [] : ['accept-encoding' => $case['accept']]);
            $chosen = $request->accepted(self::table('offered'))[0] ?? null;
            self::assertSame($case['coding'], $chosen, (string) json_encode($case));
        }
    }

    public function testTypes(): void
    {
        foreach (self::table('types') as $case) {
            $rule = ['coding' => 'gzip', 'types' => $case['types'] ?? []];
            $fields = $this->encoded(['Content-Type' => $case['type']], [], ['page' => ['rules' => [$rule]]]);
            self::assertSame($case['is_encoded'], isset($fields['Content-Encoding']), (string) json_encode($case));
        }
    }

    public function testStreams(): void
    {
        foreach (self::table('streams') as $case) {
            self::assertSame($case['is_stream'], (new Head(200, $case['fields']))->isStream(), (string) json_encode($case));
            self::assertSame($case['is_stream'], !isset($this->encoded($case['fields'])['Content-Encoding']));
        }
    }

    public function testResponses(): void
    {
        foreach (self::table('responses') as $case) {
            $fields = $this->encoded($case['fields'], [], [], $case['status']);
            self::assertSame($case['is_encoded'], isset($fields['Content-Encoding']), $case['name']);
        }
    }

    public function testSizes(): void
    {
        $request = new Request('GET', ['accept-encoding' => 'gzip']);
        foreach (self::table('sizes') as $case) {
            [$rule, $fields] = $this->page([])->plan($request, new Head(200, self::HTML), $case['bytes']);
            self::assertSame($case['is_encoded'], $rule !== null, (string) json_encode($case));
            self::assertSame('Accept-Encoding', $fields['Vary']);
        }
    }

    public function testVaryAndTags(): void
    {
        foreach (self::table('vary') as $case) {
            $fields = $this->encoded(self::HTML + ($case['vary'] === null ? [] : ['Vary' => $case['vary']]));
            self::assertSame($case['sent'], $fields['Vary'] ?? $case['vary'], (string) json_encode($case));
        }
        foreach (self::table('etags') as $case) {
            $fields = $this->encoded(self::HTML + ['ETag' => $case['etag']]);
            self::assertSame($case['sent'], $fields['ETag'] ?? $case['etag'], (string) json_encode($case));
        }
        self::assertTrue(array_key_exists('Accept-Ranges', $this->encoded(self::HTML)));
    }

    public function testConditions(): void
    {
        foreach (self::table('if_none_match') as $case) {
            self::assertSame($case['seen'], Page::withStrongTags($case['sent']), $case['name']);
        }
        foreach (self::table('not_modified') as $case) {
            $asked = ['if-none-match' => $case['if_none_match']];
            $fields = $this->encoded(self::HTML + ['ETag' => $case['etag']], $asked, [], 304);
            self::assertSame($case['sent'], $fields['ETag'] ?? $case['etag'], (string) json_encode($case));
            self::assertSame('Accept-Encoding', $fields['Vary']);
        }
    }

    public function testBreach(): void
    {
        foreach (self::table('breach') as $case) {
            $fields = array_change_key_case($case['fields']);
            $request = new Request('GET', $fields);
            self::assertSame($case['is_withheld'], $request->isWithheld($case['setting']), $case['name']);
            $changes = $this->encoded(self::HTML, $fields, ['page' => ['breach' => $case['setting']]]);
            self::assertSame($case['is_withheld'], !isset($changes['Content-Encoding']), $case['name']);
            self::assertSame('Accept-Encoding', $changes['Vary'], $case['name']);
            // What PHP has of a request says the same.
            $server = [];
            foreach ($fields as $name => $value) {
                $server['HTTP_' . strtr(strtoupper($name), '-', '_')] = $value;
            }
            $withheld = Request::current($server)->isWithheld($case['setting']);
            self::assertSame($case['is_withheld'], $withheld, $case['name']);
        }
    }

    public function testALoginOfTheServer(): void
    {
        $known = ['REMOTE_USER' => 'a', 'PHP_AUTH_USER' => 'a', 'PHP_AUTH_DIGEST' => 'a', 'SSL_CLIENT_VERIFY' => 'SUCCESS'];
        foreach ($known as $name => $value) {
            $server = [$name => $value, 'HTTP_SEC_FETCH_SITE' => 'cross-site'];
            self::assertTrue(Request::current($server)->isWithheld('cross-site'), $name);
            $server = [$name => '', 'HTTP_SEC_FETCH_SITE' => 'cross-site'];
            self::assertFalse(Request::current($server)->isWithheld('cross-site'), $name);
        }
    }

    public function testWhatIsWithheldIsNotStoredForAll(): void
    {
        $asked = ['cookie' => 'session=1', 'sec-fetch-site' => 'cross-site'];
        foreach (self::table('withheld') as $case) {
            $head = self::HTML + ($case['cache_control'] === null ? [] : ['Cache-Control' => $case['cache_control']]);
            foreach ([200, 304] as $status) {
                $changes = $this->encoded($head, $asked, [], $status);
                $sent = $changes['Cache-Control'] ?? $case['cache_control'];
                self::assertSame($case['sent'], $sent, (string) json_encode($case));
            }
        }
        // What would not have been encoded for anybody is not withheld.
        self::assertArrayNotHasKey('Cache-Control', $this->encoded(['Content-Type' => 'image/png'], $asked));
        self::assertArrayNotHasKey('Cache-Control', $this->encoded(self::HTML, ['accept-encoding' => 'x'] + $asked));
        $request = new Request('GET', $asked + ['accept-encoding' => 'gzip']);
        $small = $this->page([])->encode($request, new Head(200, self::HTML), 'a');
        self::assertSame(['a', ['Vary' => 'Accept-Encoding']], $small);
    }

    public function testRulesOfOtherSizes(): void
    {
        $page = $this->page(['page' => ['rules' => [
            ['coding' => 'zstd'],
            ['coding' => 'gzip', 'level' => 9, 'min_bytes' => 5000],
            ['coding' => 'gzip', 'level' => 1, 'min_bytes' => 100],
            ['coding' => 'deflate', 'types' => ['text/css']],
        ]]]);
        $request = new Request('GET', ['accept-encoding' => 'zstd, gzip;q=0.5, deflate;q=0.9']);
        foreach (
            [
                [5000, 'text/html', ['gzip', 9]],
                [4999, 'text/html', ['gzip', 1]],
                [99, 'text/html', null],
                [5000, 'text/css', ['deflate', 6]],
                [500, 'text/css', ['gzip', 1]],
            ] as [$length, $type, $expected]
        ) {
            [$rule] = $page->plan($request, new Head(200, ['Content-Type' => $type]), $length);
            self::assertSame($expected, $rule === null ? null : [$rule->coding, $rule->level]);
        }
    }

    public function testWithoutACodecOrAGainThePageIsSentAsItIs(): void
    {
        $request = new Request('GET', ['accept-encoding' => 'gzip, br, zstd']);
        $body = str_repeat('some words ', 200);
        $page = new Page(null, new Codec([]));
        self::assertSame([$body, ['Vary' => 'Accept-Encoding']], $page->encode($request, new Head(200, self::HTML), $body));
        [$noise, $fields] = $this->page([])->encode($request, new Head(200, self::HTML), random_bytes(5000));
        self::assertSame([5000, ['Vary' => 'Accept-Encoding']], [strlen($noise), $fields]);
    }

    public function testHeadHasTheFieldsOfGet(): void
    {
        $head = new Head(200, self::HTML + ['Content-Length' => '2200', 'ETag' => '"abc"']);
        $fields = ['accept-encoding' => 'gzip'];
        [$body, $changes] = $this->page([])->encode(new Request('HEAD', $fields), $head, '');
        self::assertSame(['', 'gzip', null], [$body, $changes['Content-Encoding'], $changes['Content-Length']]);
        self::assertSame(['W/"abc"', 'Accept-Encoding'], [$changes['ETag'], $changes['Vary']]);
        // Without a body that has a length there is nothing to encode.
        foreach ([new Request('GET', $fields), new Request('HEAD', $fields)] as $request) {
            $sent = $this->page([])->encode($request, new Head(200, self::HTML), '');
            self::assertSame(['', ['Vary' => 'Accept-Encoding']], $sent);
        }
        $always = $this->page(['page' => ['rules' => [['coding' => 'gzip', 'min_bytes' => 0]]]]);
        [, $changes] = $always->encode(new Request('GET', $fields), new Head(200, self::HTML), '');
        self::assertArrayNotHasKey('Content-Encoding', $changes);
    }

    public function testAPageInPiecesTakesACodecThatHasThem(): void
    {
        $whole = new Libraries();
        $page = new Page(null, new Codec([$whole]));
        $request = new Request('GET', ['accept-encoding' => 'gzip']);
        self::assertNull($page->plan($request, new Head(200, self::HTML), null)[0]);
        $isThere = $whole->name('gzip', Binding::ENCODE) !== null;
        self::assertSame($isThere, $page->plan($request, new Head(200, self::HTML), 5000)[0] !== null);
    }

    public function testA304WithoutATypeIsOneOfAPage(): void
    {
        $fields = $this->encoded(['ETag' => '"abc"'], ['if-none-match' => 'W/"abc"'], [], 304);
        self::assertSame(['Vary' => 'Accept-Encoding', 'ETag' => 'W/"abc"'], $fields);
        self::assertSame([], $this->encoded(['ETag' => '"abc"']));
    }

    public function testHeaderNamesOfTheServer(): void
    {
        $server = ['REQUEST_METHOD' => 'head', 'HTTP_ACCEPT_ENCODING' => 'br', 'HTTP_X' => ['a'], 'A' => 1];
        $request = Request::current($server);
        self::assertSame(['HEAD', 'br', null], [
            $request->method, $request->field('accept-encoding'), $request->field('x'),
        ]);
    }

    /** @param array<mixed> $settings */
    private function page(array $settings): Page
    {
        return new Page(Settings::fromArray($settings), new Codec([new Zlib()]));
    }

    /**
     * The header fields that change for a page of 2,200 bytes.
     *
     * @param array<string, string> $head
     * @param array<string, string> $asked
     * @param array<mixed>          $settings
     * @return array<string, string|null>
     */
    private function encoded(array $head, array $asked = [], array $settings = [], int $status = 200): array
    {
        $request = new Request('GET', $asked + ['accept-encoding' => 'gzip']);
        $body = $status === 304 ? '' : str_repeat('some words ', 200);
        [$sent, $changes] = $this->page($settings)->encode($request, new Head($status, $head), $body);
        self::assertSame($body, isset($changes['Content-Encoding']) ? gzdecode($sent) : $sent);
        return $changes;
    }
}
