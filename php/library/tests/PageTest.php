<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests;

use PHPUnit\Framework\TestCase;
use Weighbridge\Library\Binding\ZlibExtension;
use Weighbridge\Library\Codec;
use Weighbridge\Library\Head;
use Weighbridge\Library\Page;
use Weighbridge\Library\Request;
use Weighbridge\Library\Settings;

/** What is decided about a page, without a server. */
final class PageTest extends TestCase
{
    private const HTML = ['Content-Type' => 'text/html; charset=utf-8'];

    /** @return iterable<string, array{string, array<string, string>, bool}> */
    public function requests(): iterable
    {
        $cookie = ['cookie' => 'session=1', 'host' => 'shop.example'];
        yield 'nobody known' => ['cookies', [], true];
        yield 'a cookie' => ['cookies', $cookie, false];
        yield 'credentials' => ['cookies', ['authorization' => 'Basic YTpi'], false];
        yield 'a cookie, and no care' => ['off', $cookie + ['sec-fetch-site' => 'cross-site'], true];
        yield 'another site' => ['cross-site', $cookie + ['sec-fetch-site' => 'cross-site'], false];
        yield 'a sibling domain' => ['cross-site', $cookie + ['sec-fetch-site' => 'same-site'], false];
        yield 'the same origin' => ['cross-site', $cookie + ['sec-fetch-site' => 'same-origin'], true];
        yield 'typed' => ['cross-site', $cookie + ['sec-fetch-site' => 'none'], true];
        yield 'another site without a cookie' => ['cross-site', ['sec-fetch-site' => 'cross-site'], true];
        yield 'an old browser, from elsewhere' => ['cross-site', $cookie + ['referer' => 'https://evil.example/a'], false];
        yield 'an old browser, from here' => ['cross-site', $cookie + ['referer' => 'https://Shop.example/a'], true];
        yield 'another port' => ['cross-site', $cookie + ['referer' => 'http://shop.example:8080/'], false];
        yield 'no address at all' => ['cross-site', $cookie + ['referer' => '///'], false];
        yield 'an old browser, no referrer' => ['cross-site', $cookie, true];
    }

    /**
     * @dataProvider requests
     * @param array<string, string> $fields
     */
    public function testBreach(string $breach, array $fields, bool $isEncoded): void
    {
        $page = new Page(Settings::fromArray(['page' => ['breach' => $breach]])->page);
        [$body, $changes] = $page->encode(
            new Request('GET', $fields + ['accept-encoding' => 'gzip']),
            new Head(200, self::HTML),
            str_repeat('some words ', 200)
        );
        self::assertSame($isEncoded, isset($changes['Content-Encoding']));
        self::assertSame($isEncoded, strlen($body) < 1000);
        self::assertSame('Accept-Encoding', $changes['Vary']);
    }

    /** @return iterable<string, array{int, array<string, string>, string}> */
    public function unchanged(): iterable
    {
        yield 'no type' => [200, [], 'gzip'];
        yield 'a digest' => [200, self::HTML + ['Repr-Digest' => 'sha-256=:a:'], 'gzip'];
        yield 'a digest of the content' => [200, self::HTML + ['Content-MD5' => 'a'], 'gzip'];
        yield 'encoded' => [200, self::HTML + ['content-encoding' => 'br'], 'gzip'];
        yield 'no-transform' => [200, self::HTML + ['Cache-Control' => 'max-age=1, No-Transform'], 'gzip'];
        yield 'reset content' => [205, self::HTML, 'gzip'];
        yield 'an event stream' => [200, ['Content-Type' => 'text/event-stream'], 'gzip'];
    }

    /**
     * @dataProvider unchanged
     * @param array<string, string> $fields
     */
    public function testWhatIsLeftAlone(int $status, array $fields, string $accept): void
    {
        $body = str_repeat('some words ', 200);
        $page = new Page(Settings::defaults()->page);
        $request = new Request('GET', ['accept-encoding' => $accept]);
        self::assertSame([$body, []], $page->encode($request, new Head($status, $fields), $body));
    }

    public function testTheFirstRuleThatFitsAndThatThisPhpHas(): void
    {
        $settings = Settings::fromArray(['page' => ['rules' => [
            ['coding' => 'zstd'],
            ['coding' => 'gzip', 'level' => 9, 'min_bytes' => 5000],
            ['coding' => 'gzip', 'level' => 1, 'min_bytes' => 100],
            ['coding' => 'deflate', 'types' => ['text/css']],
        ]]]);
        $page = new Page($settings->page, new Codec([new ZlibExtension()]));
        $request = new Request('GET', ['accept-encoding' => 'zstd, gzip;q=0.5, deflate;q=0.9']);
        $rule = static function (int $length, string $type) use ($page, $request): array {
            $plan = $page->plan($request, new Head(200, ['Content-Type' => $type]), $length);
            return $plan->rule === null ? [] : [$plan->rule->coding, $plan->rule->level];
        };
        self::assertSame(['gzip', 9], $rule(5000, 'text/html'));
        self::assertSame(['gzip', 1], $rule(4999, 'text/html'));
        self::assertSame([], $rule(99, 'text/html'));
        self::assertSame(['deflate', 6], $rule(5000, 'text/css'));
        self::assertSame(['gzip', 1], $rule(500, 'text/css'));
    }

    public function testWithoutAnyCodecThePageIsSentAsItIs(): void
    {
        $body = str_repeat('some words ', 200);
        $page = new Page(Settings::defaults()->page, new Codec([]));
        $request = new Request('GET', ['accept-encoding' => 'gzip, br, zstd']);
        [$sent, $changes] = $page->encode($request, new Head(200, self::HTML), $body);
        self::assertSame([$body, ['Vary' => 'Accept-Encoding']], [$sent, $changes]);
    }

    public function testWhatDoesNotShrinkIsSentAsItIs(): void
    {
        $body = random_bytes(5000);
        $request = new Request('GET', ['accept-encoding' => 'gzip']);
        [$sent, $changes] = (new Page(Settings::defaults()->page))->encode($request, new Head(200, self::HTML), $body);
        self::assertTrue($sent === $body);
        self::assertArrayNotHasKey('Content-Encoding', $changes);
    }

    public function testHeaderNamesOfTheServer(): void
    {
        $server = ['REQUEST_METHOD' => 'head', 'HTTP_ACCEPT_ENCODING' => 'br', 'HTTP_X' => ['a'], 'A' => 1];
        $request = Request::current($server);
        self::assertSame(['HEAD', 'br', null], [
            $request->method, $request->field('accept-encoding'), $request->field('x'),
        ]);
    }
}
