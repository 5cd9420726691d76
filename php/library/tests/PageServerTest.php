<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests;

use PHPUnit\Framework\TestCase;
use Weighbridge\Library\Binding\Binding;
use Weighbridge\Library\Codec;
use Weighbridge\Library\Tests\Support\Fpm;
use Weighbridge\Library\Tests\Support\Frameworks;
use Weighbridge\Library\Tests\Support\Response;
use Weighbridge\Library\Tests\Support\Server;

/** Pages as a client gets them over a socket. */
final class PageServerTest extends TestCase
{
    private static ?Server $server = null;

    private static string $text = '';

    public static function setUpBeforeClass(): void
    {
        self::$server = new Server();
        self::$text = str_repeat("A line of the page, with some words in it.\n", 200);
    }

    public static function tearDownAfterClass(): void
    {
        self::$server = null;
    }

    /** @return iterable<string, array{string}> */
    public static function codings(): iterable
    {
        foreach (['gzip', 'br', 'zstd'] as $coding) {
            yield $coding => [$coding];
        }
    }

    /** @dataProvider codings */
    public function testAWholePage(string $coding): void
    {
        $response = $this->page('whole', $coding);
        self::assertSame(200, $response->status);
        self::assertTrue(self::$text === $response->content(), 'another page');
        if ($this->has($coding)) {
            self::assertSame($coding, $response->field('content-encoding'));
            self::assertSame((string) strlen($response->body), $response->field('content-length'));
            self::assertLessThan(strlen(self::$text) / 10, strlen($response->body));
            self::assertSame('W/"abc"', $response->field('etag'));
        }
        self::assertSame('Accept-Encoding', $response->field('vary'));
    }

    /** @dataProvider codings */
    public function testFlushedPartsLeaveWhenTheyAreFlushed(string $coding): void
    {
        if (!$this->has($coding)) {
            Frameworks::skip("$coding: this PHP has no stream of it", true);
        }
        $length = 0;
        $response = $this->flushed(self::server(), $coding, static function (string $body) use (&$length): int {
            return strlen($body) > $length ? ($length = strlen($body)) : 0;
        });
        self::assertSame($coding, $response->field('content-encoding'));
        self::assertNull($response->field('content-length'));
        self::assertTrue($this->parts() === $response->content(), 'another page');
    }

    public function testWhatWasFlushedCanBeDecodedBeforeMoreComes(): void
    {
        $first = strlen("part 0 of the page\n" . self::$text);
        $parts = 0;
        $decodes = static function (string $body) use ($first, &$parts): int {
            $context = inflate_init(ZLIB_ENCODING_GZIP);
            self::assertNotFalse($context);
            $decoded = inflate_add($context, $body, ZLIB_SYNC_FLUSH);
            return strlen((string) $decoded) >= ($parts + 1) * $first ? ++$parts : 0;
        };
        self::assertTrue($this->parts() === $this->flushed(self::server(), 'gzip', $decodes)->content(), 'another page');
        // What php.ini's own buffer would hold back comes, too.
        foreach (['4096', '1'] as $size) {
            $parts = 0;
            $server = new Server(['output_buffering' => $size]);
            self::assertTrue($this->parts() === $this->flushed($server, 'gzip', $decodes)->content(), 'another page');
            self::assertSame(3, $parts, "output_buffering is $size");
        }
    }

    public function testWhatAScriptEndsInMidPageLeaves(): void
    {
        $parts = 0;
        $one = strlen("part 0 of the page\n" . self::$text);
        $response = $this->flushed(self::server(), 'gzip', static function (string $body) use ($one, &$parts): int {
            return strlen($body) >= ($parts + 1) * $one ? ++$parts : 0;
        }, ['case' => 'ended']);
        self::assertNull($response->field('content-encoding'));
        self::assertTrue($this->parts() === $response->body, 'another page');
    }

    /**
     * @param callable(string): int $hasPart whether one more part came
     * @param array<string, string> $query
     */
    private function flushed(
        Server $server,
        string $coding,
        callable $hasPart,
        array $query = ['case' => 'flushed']
    ): Response {
        $seen = sys_get_temp_dir() . '/weighbridge-' . bin2hex(random_bytes(6)) . '-';
        $count = 0;
        $mark = static function (string $body) use ($seen, $hasPart, &$count): void {
            if ($hasPart($body) > 0) {
                touch($seen . $count++);
            }
        };
        try {
            $target = '/page.php?' . http_build_query($query + ['seen' => $seen]);
            return $server->get($target, ['Accept-Encoding' => $coding], 'GET', $mark);
        } finally {
            array_map('unlink', glob("$seen*") ?: []);
        }
    }

    private function parts(): string
    {
        return implode('', array_map(static function (int $part): string {
            return "part $part of the page\n" . self::$text;
        }, [0, 1, 2]));
    }

    /** @return iterable<string, array{string, string|null}> */
    public static function identities(): iterable
    {
        yield 'without the field' => ['whole', null];
        yield 'gzip refused' => ['whole', 'gzip;q=0, identity'];
        yield 'identity preferred' => ['whole', 'gzip;q=0.3, identity;q=0.9'];
        yield 'everything refused' => ['whole', '*;q=0'];
        yield 'no-transform' => ['no-transform', 'gzip'];
        yield 'an image' => ['image', 'gzip'];
        yield 'headers sent before' => ['headers sent', 'gzip'];
        yield 'a field of 64 KB' => ['whole', str_repeat('x-coding;q=0.5, ', 4096) . 'gzip'];
    }

    /** @dataProvider identities */
    public function testAPageAsItIs(string $case, ?string $accept): void
    {
        $response = $this->page($case, $accept);
        if ($response->status === 431 || $response->status === 400) {
            Frameworks::skip('this server refuses a request of that length itself', true);
        }
        self::assertSame(200, $response->status);
        self::assertNull($response->field('content-encoding'));
        self::assertSame(self::$text, $response->body);
    }

    public function testASettingsFileIsReadWhereThereIsOne(): void
    {
        $path = (string) tempnam(sys_get_temp_dir(), 'weighbridge');
        file_put_contents($path, '<?php return ["page" => ["rules" => [["coding" => "deflate"]]]];');
        $codings = [];
        foreach ([$path, "$path-absent"] as $settings) {
            $target = '/page.php?case=whole&settings=' . rawurlencode($settings);
            $response = self::server()->get($target, ['Accept-Encoding' => 'gzip, deflate']);
            $codings[] = $response->field('content-encoding');
        }
        unlink($path);
        self::assertSame(['deflate', 'gzip'], $codings);
    }

    public function testASmallPageIsNotEncodedAndVaries(): void
    {
        $response = $this->page('small', 'gzip');
        self::assertSame('small', $response->body);
        self::assertNull($response->field('content-encoding'));
        self::assertSame('Accept-Encoding', $response->field('vary'));
    }

    public function testStatusesWithoutABody(): void
    {
        $response = $this->page('no content', 'gzip');
        self::assertSame([204, null, ''], [$response->status, $response->field('content-encoding'), $response->body]);
        foreach (['"abc"', 'W/"abc"'] as $etag) {
            $fields = ['Accept-Encoding' => 'gzip', 'If-None-Match' => $etag];
            $response = self::server()->get('/page.php?case=not+modified', $fields);
            self::assertSame([304, null, ''], [$response->status, $response->field('content-encoding'), $response->body]);
            self::assertSame([$etag, 'Accept-Encoding'], [$response->field('etag'), $response->field('vary')]);
        }
    }

    public function testAPartIsSentAsItIs(): void
    {
        $response = $this->page('part', 'gzip');
        self::assertSame([206, null], [$response->status, $response->field('content-encoding')]);
        self::assertSame(substr(self::$text, 0, 2000), $response->body);
    }

    public function testHeadHasTheFieldsOfGet(): void
    {
        $get = $this->page('whole', 'gzip');
        $head = $this->page('whole', 'gzip', 'HEAD');
        self::assertSame('', $head->body);
        foreach (['content-encoding', 'content-length', 'etag', 'vary'] as $name) {
            self::assertSame($get->field($name), $head->field($name), $name);
        }
    }

    public function testVaryIsAddedTo(): void
    {
        self::assertSame('Cookie, Accept-Language, Accept-Encoding', $this->page('vary', 'gzip')->field('vary'));
    }

    /** @return iterable<array{string}> */
    public static function onceOnly(): iterable
    {
        foreach (['encoded', 'twice', 'gzhandler inside', 'cleaned', 'empty flushes'] as $case) {
            yield $case => [$case];
        }
    }

    /** @dataProvider onceOnly */
    public function testNothingIsEncodedTwice(string $case): void
    {
        $response = $this->page($case, 'gzip');
        self::assertSame('gzip', $response->field('content-encoding'));
        self::assertTrue(self::$text === $response->content(), 'another page');
    }

    public function testObGzhandlerOutsideEncodesAlone(): void
    {
        $response = self::server()->get('/gzhandler.php', ['Accept-Encoding' => 'gzip']);
        self::assertSame('gzip', $response->field('content-encoding'));
        self::assertTrue(self::$text === $response->content(), 'another page');
    }

    public function testZlibOutputCompressionEncodesAlone(): void
    {
        $server = new Server(['zlib.output_compression' => '1']);
        $response = $server->get('/page.php?case=small', ['Accept-Encoding' => 'gzip, br, zstd']);
        self::assertSame('gzip', $response->field('content-encoding'));
        self::assertSame('small', $response->content());
    }

    /** @return iterable<array{string}> */
    public static function removals(): iterable
    {
        yield 'the buffer was dropped' => ['dropped'];
        yield 'its content was taken' => ['taken'];
    }

    /** @dataProvider removals */
    public function testWithoutItsBufferThePageIsSentAsItIs(string $case): void
    {
        $response = $this->page($case, 'gzip');
        self::assertNull($response->field('content-encoding'));
        self::assertSame(self::$text, $response->body);
    }

    public function testAnErrorPageAfterAnException(): void
    {
        $response = $this->page('exception', 'gzip');
        self::assertSame([500, 'error page'], [$response->status, $response->content()]);
    }

    /** @dataProvider codings */
    public function testAnErrorPageInTheMiddleOfAStream(string $coding): void
    {
        $response = $this->page('exception after flush', $coding);
        self::assertSame(self::$text . 'error page', $response->content());
    }

    public function testAScriptThatClosesAllBuffersInTheMiddleOfAStream(): void
    {
        // The page ends there. Under PHP-FPM the rest is dropped; here it is bytes after the end, which clients ignore.
        $response = $this->page('all closed after flush', 'gzip');
        self::assertStringEndsWith('error page', $response->body);
        $context = inflate_init(ZLIB_ENCODING_GZIP);
        self::assertNotFalse($context);
        self::assertSame(self::$text, inflate_add($context, $response->body));
        self::assertSame(ZLIB_STREAM_END, inflate_get_status($context));
    }

    public function testNoLengthIsSaidWhereMoreMayFollow(): void
    {
        $response = $this->page('closed by a framework', 'gzip');
        self::assertSame(['gzip', null], [$response->field('content-encoding'), $response->field('content-length')]);
        self::assertTrue(self::$text === $response->content(), 'another page');
    }

    public function testWhatFpmSendsAfterTheEnd(): void
    {
        $fpm = new Fpm();
        $response = $fpm->get('finished early');
        self::assertSame(['gzip', (string) strlen($response->body)], [
            $response->field('content-encoding'), $response->field('content-length'),
        ]);
        self::assertTrue(self::$text === $response->content(), 'another page');
        self::assertTrue(self::$text === $fpm->get('all closed after flush')->content(), 'another page');
        self::assertTrue(self::$text === $fpm->get('whole')->content(), 'another page');
    }

    public function testOutputOfAShutdownFunctionIsPartOfThePage(): void
    {
        self::assertSame(self::$text . 'from a shutdown function', $this->page('output at the end', 'gzip')->content());
    }

    public function testTheMemoryLimitBeforeAnythingLeft(): void
    {
        // PHP itself drops the page then; PHP 7 sends what there is, if that still has room.
        $response = $this->page('memory', 'gzip');
        self::assertSame(500, $response->status);
        self::assertContains($response->content(), ['', self::$text]);
    }

    /** @return iterable<array{string, string}> */
    public static function largeOnes(): iterable
    {
        foreach (['gzip', 'br', 'zstd', ''] as $coding) {
            foreach (['large', 'a file', 'a table'] as $case) {
                yield "$case, $coding" => [$case, $coding];
            }
        }
    }

    /** @dataProvider largeOnes */
    public function testALargePageTakesLittleMemory(string $case, string $coding): void
    {
        $file = (string) tempnam(sys_get_temp_dir(), 'weighbridge');
        $handle = fopen($file, 'w');
        self::assertNotFalse($handle);
        ftruncate($handle, 40 << 20);
        fclose($handle);
        try {
            $target = '/page.php?' . http_build_query(['case' => $case, 'path' => $file]);
            $response = self::server()->get($target, ['Accept-Encoding' => $coding]);
        } finally {
            unlink($file);
        }
        self::assertSame(200, $response->status);
        $isEncoded = $coding !== '' && $this->has($coding);
        self::assertSame($isEncoded ? $coding : null, $response->field('content-encoding'));
        self::assertNull($response->field('content-length'));
        $content = $response->content();
        if ($case === 'a table') {
            self::assertSame(200000, substr_count($content, "\n"));
        } else {
            self::assertSame($case === 'large' ? 800 * strlen(self::$text) : 40 << 20, strlen($content));
        }
    }

    /** @return iterable<string, array{string, bool, int}> */
    public static function largeEchoes(): iterable
    {
        foreach (['gzip', 'br', 'zstd', ''] as $coding) {
            foreach (['text' => true, 'random bytes' => false] as $content => $isText) {
                foreach ([0, 10] as $before) {
                    yield "$content after $before bytes, $coding" => [$coding, $isText, $before];
                }
            }
        }
    }

    /** @dataProvider largeEchoes */
    public function testALargePageThatIsPrintedAtOnce(string $coding, bool $isText, int $before): void
    {
        // An output handler is given the third copy of it, for which this limit has room, but not for one more.
        $large = $isText ? str_repeat(self::$text, 1046) : random_bytes(9000000);
        $file = (string) tempnam(sys_get_temp_dir(), 'weighbridge');
        file_put_contents($file, $large);
        try {
            $target = '/page.php?' . http_build_query(['case' => 'large at once', 'path' => $file, 'before' => $before]);
            $response = self::server()->get($target, ['Accept-Encoding' => $coding]);
        } finally {
            unlink($file);
        }
        self::assertSame([200, 'Accept-Encoding'], [$response->status, $response->field('vary')]);
        $isEncoded = $isText && $coding !== '' && $this->has($coding);
        self::assertSame($isEncoded ? $coding : null, $response->field('content-encoding'));
        $page = str_repeat('x', $before) . $large . ($before > 0 ? 'the end' : '');
        self::assertTrue($page === $response->content(), 'another page');
    }

    /** @return iterable<array{string, string}> */
    public static function ends(): iterable
    {
        $cases = [
            'all closed', 'all closed at once', 'closed once', 'taken and sent', 'closed after each message',
            'closed at the end', 'closed at the end, and more', 'all closed at the end, and more',
            'cleaned after the end', 'closed by a destructor', 'long, closed once',
            'long, closed at the end, and more', 'flushed, then closed',
            'flushed, closed by a late destructor',
        ];
        foreach (['gzip', 'br', 'zstd'] as $coding) {
            foreach ($cases as $case) {
                yield "$case, $coding" => [$case, $coding];
            }
        }
    }

    /** @dataProvider ends */
    public function testAPageIsWholeWhateverEndsItsBuffers(string $case, string $coding): void
    {
        $isLong = strpos($case, 'long') === 0;
        $expected = 'first ' . self::$text . ($isLong ? str_repeat('a long page, ', 50000) : '') . 'second ' . self::$text;
        foreach ([[], ['output_buffering' => '4096']] as $settings) {
            $server = $settings === [] ? self::server() : new Server($settings);
            $target = '/page.php?case=' . rawurlencode($case);
            $response = $server->get($target, ['Accept-Encoding' => $coding]);
            self::assertTrue($expected === $response->content(), "another page: {$response->field('content-encoding')}");
            // What is closed at the end is encoded still.
            if (preg_match('/^(?:closed at the end|closed by|long|flushed)/', $case) === 1 && $this->has($coding)) {
                self::assertSame($coding, $response->field('content-encoding'));
            }
            self::assertContains($response->field('content-length'), [null, (string) strlen($response->body)]);
            self::assertTrue($expected === $server->get($target)->content(), 'another page');
        }
    }

    /** @return iterable<array{string, string}> */
    public static function streamingOnes(): iterable
    {
        $fields = [
            'Content-Type: text/event-stream', 'Content-Type: application/x-ndjson', 'X-Accel-Buffering: no',
            'Content-Type: image/png',
        ];
        foreach ($fields as $field) {
            yield $field => [$field, 'gzip, br, zstd'];
        }
        yield 'a client that takes no coding' => ['X-Any: thing', 'identity'];
    }

    /** @dataProvider streamingOnes */
    public function testWhatIsNotEncodedIsNotHeld(string $field, string $accept): void
    {
        $one = strlen("part 0 of the page\n" . self::$text);
        $parts = 0;
        $response = $this->flushed(self::server(), $accept, static function (string $body) use ($one, &$parts): int {
            return strlen($body) >= ($parts + 1) * $one ? ++$parts : 0;
        }, ['case' => 'streamed', 'field' => $field]);
        self::assertNull($response->field('content-encoding'));
        self::assertTrue($this->parts() === $response->body, 'another page');
        $isStream = strpos($field, 'image') === false && strpos($field, 'Any') === false;
        if ($isStream) {
            // PHP's own buffer does not hold it either.
            $parts = 0;
            $server = new Server(['output_buffering' => '65536']);
            $response = $this->flushed($server, $accept, static function (string $body) use ($one, &$parts): int {
                return strlen($body) >= ($parts + 1) * $one ? ++$parts : 0;
            }, ['case' => 'streamed', 'field' => $field]);
            self::assertTrue($this->parts() === $response->body, 'another page');
        }
    }

    /** @return iterable<array{string}> */
    public static function buffersBelow(): iterable
    {
        foreach (['closure', 'plain', 'bytes'] as $below) {
            yield $below => [$below];
        }
    }

    /** @dataProvider buffersBelow */
    public function testABufferOfOthersGetsThePageAsItIs(string $below): void
    {
        foreach (['0', '4096'] as $buffering) {
            $server = new Server(['output_buffering' => $buffering]);
            $kept = (string) tempnam(sys_get_temp_dir(), 'weighbridge');
            $target = '/page.php?' . http_build_query(['below' => $below, 'kept' => $kept]);
            $response = $server->get($target, ['Accept-Encoding' => 'gzip']);
            $stored = file_get_contents($kept);
            unlink($kept);
            self::assertSame(($below === 'bytes' ? 'bytes before' : '') . self::$text, $response->content());
            self::assertNull($response->field('content-encoding'));
            if ($below !== 'bytes') {
                self::assertSame(self::$text, $stored);
            }
        }
    }

    public function testACodecThatFailsLeavesThePageAsItIs(): void
    {
        $response = $this->page('a codec that fails', 'gzip');
        self::assertNull($response->field('content-encoding'));
        self::assertSame(self::$text . self::$text, $response->body);
    }

    public function testAConditionComparesWhatTheApplicationGave(): void
    {
        $get = static function (?string $tag, string $accept): Response {
            $fields = ['Accept-Encoding' => $accept] + ($tag === null ? [] : ['If-None-Match' => $tag]);
            return self::server()->get('/page.php?case=conditional', $fields);
        };
        $first = $get(null, 'gzip');
        self::assertSame('W/"abc"', $first->field('etag'));
        $second = $get('W/"abc"', 'gzip');
        self::assertSame([304, ''], [$second->status, $second->body]);
        foreach (['etag', 'vary', 'cache-control'] as $name) {
            self::assertSame($first->field($name), $second->field($name), $name);
        }
        self::assertSame('"abc"', $get(null, 'identity')->field('etag'));
        $third = $get('"abc"', 'identity');
        self::assertSame([304, '"abc"'], [$third->status, $third->field('etag')]);
    }

    private function page(string $case, ?string $accept, string $method = 'GET'): Response
    {
        $fields = $accept === null ? [] : ['Accept-Encoding' => $accept];
        return self::server()->get('/page.php?case=' . rawurlencode($case), $fields, $method);
    }

    private function has(string $coding): bool
    {
        return (new Codec())->can($coding, Binding::ENCODE | Binding::STREAM);
    }

    private static function server(): Server
    {
        return self::$server ?? self::$server = new Server();
    }
}
