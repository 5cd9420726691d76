<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests;

use PHPUnit\Framework\TestCase;
use Weighbridge\Library\Download;
use Weighbridge\Library\Download\File;
use Weighbridge\Library\Download\Preconditions;
use Weighbridge\Library\Request;
use Weighbridge\Library\Settings;
use Weighbridge\Library\Settings\InvalidSettings;
use Weighbridge\Library\Tests\Support\Frameworks;
use Weighbridge\Library\Tests\Support\Response;
use Weighbridge\Library\Tests\Support\Server;

/** Downloads: their parts, and as a client gets them over a socket. */
final class DownloadTest extends TestCase
{
    private const TIME = 1700000000;
    private const DATE = 'Tue, 14 Nov 2023 22:13:20 GMT';
    private const SIZE = 1000;

    private static ?Server $server = null;

    private static string $folder = '';

    private static string $content = '';

    public static function setUpBeforeClass(): void
    {
        self::$folder = sys_get_temp_dir() . '/weighbridge-' . bin2hex(random_bytes(6));
        $root = self::$folder . '/root';
        mkdir("$root/below", 0700, true);
        mkdir(self::$folder . '/root-beside', 0700);
        self::$content = random_bytes(self::SIZE);
        foreach (['root/a file%.bin', 'root/below/b.bin', 'outside.bin', 'root-beside/c.bin'] as $path) {
            file_put_contents(self::$folder . "/$path", self::$content);
            touch(self::$folder . "/$path", self::TIME);
        }
        file_put_contents("$root/empty", '');
        file_put_contents("$root/large", str_repeat('0123456789abcdef', 1 << 20));
        symlink("$root/below/b.bin", "$root/inside");
        symlink(self::$folder . '/outside.bin', "$root/leads-out");
        symlink(self::$folder, "$root/folder-out");
        symlink('loop', "$root/loop");
        posix_mkfifo("$root/pipe", 0600);
        putenv("WEIGHBRIDGE_ROOT=$root");
        self::$server = new Server();
    }

    public static function tearDownAfterClass(): void
    {
        self::$server = null;
        exec('rm -r ' . escapeshellarg(self::$folder));
    }

    /** @return iterable<array{string, string}> */
    public static function names(): iterable
    {
        yield ['report.pdf', 'attachment; filename="report.pdf"'];
        yield ['a "b" \\c.txt', 'attachment; filename="c.txt"'];
        yield ['a "b".txt', 'attachment; filename="a \\"b\\".txt"'];
        yield ['Übersicht 1.pdf', 'attachment; filename="_bersicht 1.pdf"; filename*=UTF-8\'\'%C3%9Cbersicht%201.pdf'];
        yield ['50%.txt', 'attachment; filename="50_.txt"; filename*=UTF-8\'\'50%25.txt'];
        yield ["a\r\nSet-Cookie: b.txt", 'attachment; filename="aSet-Cookie: b.txt"'];
        yield ['../../etc/passwd', 'attachment; filename="passwd"'];
        yield ["bad\xffname.txt", 'attachment; filename="bad_name.txt"'];
        yield ['', 'attachment'];
        yield ['..', 'attachment'];
    }

    /** @dataProvider names */
    public function testTheNameThatABrowserSavesItBy(string $name, string $value): void
    {
        self::assertSame($value, Download::disposition($name, false));
        self::assertStringStartsWith('inline', Download::disposition($name, true));
    }

    public function testALongNameIsCutBetweenCharacters(): void
    {
        $value = Download::disposition(str_repeat('Ü', 200), false);
        self::assertSame(1, preg_match('/\*=UTF-8\'\'((?:%C3%9C)+)$/D', $value, $match));
        self::assertSame(127 * 6, strlen($match[1]));
        $longest = 'a' . str_repeat('Ü', 127);
        self::assertStringEndsWith(rawurlencode($longest), Download::disposition($longest, false));
    }

    /** @return iterable<array{string|null, array{int, int}|null}> the field, and first byte with length; null: whole */
    public static function ranges(): iterable
    {
        yield [null, null];
        yield ['bytes=0-0', [0, 1]];
        yield ['bytes=10-19', [10, 10]];
        yield ['Bytes = 10-19', [10, 10]];
        yield ['bytes=990-', [990, 10]];
        yield ['bytes=990-5000', [990, 10]];
        yield ['bytes=-10', [990, 10]];
        yield ['bytes=-5000', [0, 1000]];
        yield ['bytes=0-9223372036854775808', [0, 1000]];
        yield ['bytes=1000-', [1000, 0]];
        yield ['bytes=99999999999999999999-', [PHP_INT_MAX, 0]];
        yield ['bytes=-0', [1000, 0]];
        yield ['bytes=0-9,10-19', null];
        yield ['bytes=0-9,20-29', null];
        yield ['bytes=19-10', null];
        yield ['bytes=a-b', null];
        yield ['bytes=', null];
        yield ['bytes=-', null];
        yield ['lines=1-2', null];
        yield ['bytes=' . str_repeat('0-0,', 20) . '0-0', null];
        yield ['bytes=' . str_repeat('0', 65536) . '-1', [0, 2]];
    }

    /**
     * @dataProvider ranges
     * @param array{int, int}|null $expected
     */
    public function testRanges(?string $field, ?array $expected): void
    {
        $request = new Request('GET', $field === null ? [] : ['range' => $field]);
        self::assertSame($expected, (new Preconditions($request, self::file('below/b.bin'), time()))->range());
    }

    /** @return iterable<string, array{string}> */
    public static function refused(): iterable
    {
        yield 'dots' => ['../outside.bin'];
        yield 'dots in the middle' => ['below/../../outside.bin'];
        yield 'dots that stay inside' => ['below/../below/b.bin'];
        yield 'an absolute path' => ['/etc/passwd'];
        yield 'NUL' => ["below/b.bin\0.txt"];
        yield 'a symbolic link out of the root' => ['leads-out'];
        yield 'a symbolic folder out of the root' => ['folder-out/outside.bin'];
        yield 'a loop' => ['loop'];
        yield 'a folder' => ['below'];
        yield 'the root' => [''];
        yield 'a pipe' => ['pipe'];
        yield 'nothing' => ['nothing'];
        yield 'a wrapper' => ['php://filter/resource=below/b.bin'];
        yield 'a folder whose name begins as the root' => ['/../root-beside/c.bin'];
    }

    /** @dataProvider refused */
    public function testAPathThatLeadsElsewhere(string $path): void
    {
        $response = $this->get($path);
        self::assertSame([404, "Not found.\n"], [$response->status, $response->body]);
        self::assertSame('text/plain; charset=utf-8', strtolower((string) $response->field('content-type')));
        self::assertNull(File::open(self::$folder . '/root', $path));
    }

    public function testARootThatBeginsAsAnother(): void
    {
        self::assertNull(File::open(self::$folder . '/root', self::$folder . '/root-beside/c.bin'));
        self::assertNull(File::open(self::$folder . '/root-absent', self::$folder . '/root/below/b.bin'));
        self::assertNull(File::open('phar://' . self::$folder . '/root', 'below/b.bin'));
        self::assertNotNull(File::open(self::$folder . '/root/', self::$folder . '/root/below/b.bin'));
        self::assertNotNull(File::open('/', self::$folder . '/root/below/b.bin'));
        file_put_contents(self::$folder . "/root/a\nb", '');
        self::assertNull(File::open(self::$folder . '/root', "a\nb"));
    }

    public function testAWholeFile(): void
    {
        foreach (['a file%.bin', 'inside', self::$folder . '/root/below/b.bin'] as $path) {
            $response = $this->get($path);
            self::assertSame(200, $response->status);
            self::assertTrue($response->body === self::$content, 'other content');
            self::assertSame('1000', $response->field('content-length'));
            self::assertSame('bytes', $response->field('accept-ranges'));
            self::assertSame(self::DATE, $response->field('last-modified'));
            self::assertSame('"6553f100-3e8"', $response->field('etag'));
            self::assertStringStartsWith('text/plain', (string) $response->field('content-type'));
            self::assertSame('nosniff', $response->field('x-content-type-options'));
            self::assertSame('attachment; filename="' . ($path === 'a file%.bin' ? 'a file_.bin' : 'b.bin') . '"', explode(
                '; filename*',
                (string) $response->field('content-disposition')
            )[0]);
        }
        self::assertSame([200, ''], [$this->get('empty')->status, $this->get('empty')->body]);
    }

    public function testALargeFileTakesLittleMemory(): void
    {
        // The script may use 4 MB.
        $response = $this->get('large');
        self::assertSame(1 << 24, strlen($response->body));
        self::assertSame(sha1(str_repeat('0123456789abcdef', 1 << 20)), sha1($response->body));
    }

    public function testHead(): void
    {
        $get = $this->get('below/b.bin');
        $head = $this->get('below/b.bin', ['Range' => 'bytes=0-1'], 'HEAD');
        self::assertSame([200, ''], [$head->status, $head->body]);
        foreach (['content-length', 'etag', 'last-modified', 'accept-ranges', 'content-disposition'] as $name) {
            self::assertSame($get->field($name), $head->field($name), $name);
        }
        foreach (['below/b.bin', 'nothing'] as $path) {
            $head = Download::prepare($path, ['root' => self::$folder . '/root'], null, new Request('head', []));
            self::assertSame('', $head->read(100));
        }
    }

    public function testAPart(): void
    {
        $response = $this->get('below/b.bin', ['Range' => 'bytes=100-299']);
        self::assertSame([206, 'bytes 100-299/1000', '200'], [
            $response->status, $response->field('content-range'), $response->field('content-length'),
        ]);
        self::assertTrue($response->body === substr(self::$content, 100, 200), 'another part');
        $response = $this->get('below/b.bin', ['Range' => 'bytes=1000-']);
        self::assertSame([416, 'bytes */1000', '', '0', null], [
            $response->status, $response->field('content-range'), $response->body, $response->field('content-length'),
            $response->field('content-disposition'),
        ]);
        self::assertSame(416, $this->get('empty', ['Range' => 'bytes=0-0'])->status);
    }

    /** @return iterable<string, array{array<string, string>, int}> */
    public static function conditions(): iterable
    {
        $etag = '"6553f100-3e8"';
        $later = 'Wed, 15 Nov 2023 00:00:00 GMT';
        $earlier = 'Mon, 13 Nov 2023 00:00:00 GMT';
        yield 'its ETag' => [['If-None-Match' => $etag], 304];
        yield 'its ETag as a weak one' => [['If-None-Match' => "W/$etag"], 304];
        yield 'its ETag among others' => [['If-None-Match' => "\"a\", $etag"], 304];
        yield 'any ETag' => [['If-None-Match' => '*'], 304];
        yield 'another ETag' => [['If-None-Match' => '"a"'], 200];
        yield 'another ETag, and its date' => [['If-None-Match' => '"a"', 'If-Modified-Since' => self::DATE], 200];
        yield 'its date' => [['If-Modified-Since' => self::DATE], 304];
        yield 'a later date' => [['If-Modified-Since' => $later], 304];
        yield 'an earlier date' => [['If-Modified-Since' => $earlier], 200];
        yield 'no date' => [['If-Modified-Since' => 'tomorrow'], 200];
        yield 'must match, and does' => [['If-Match' => $etag], 200];
        yield 'must match strongly' => [['If-Match' => "W/$etag"], 412];
        yield 'must match one of a list' => [['If-Match' => "W/\"a\", $etag, W/\"b\""], 200];
        yield 'a weak one in a list' => [['If-Match' => "\"a\", W/$etag, \"b\""], 412];
        yield 'must match, and does not' => [['If-Match' => '"a"'], 412];
        yield 'must be unmodified, and is' => [['If-Unmodified-Since' => self::DATE], 200];
        yield 'must be unmodified, and is not' => [['If-Unmodified-Since' => $earlier], 412];
        yield 'a part of it' => [['Range' => 'bytes=0-9', 'If-Range' => $etag], 206];
        yield 'a part of it by date' => [['Range' => 'bytes=0-9', 'If-Range' => self::DATE], 206];
        yield 'a part of it by a later date' => [['Range' => 'bytes=0-9', 'If-Range' => $later], 200];
        yield 'a part of another' => [['Range' => 'bytes=0-9', 'If-Range' => '"a"'], 200];
        yield 'a part by a weak ETag' => [['Range' => 'bytes=0-9', 'If-Range' => "W/$etag"], 200];
        yield 'a part that it has already' => [['Range' => 'bytes=0-9', 'If-None-Match' => $etag], 304];
        yield 'several parts' => [['Range' => 'bytes=0-9,20-29'], 200];
    }

    /**
     * @dataProvider conditions
     * @param array<string, string> $fields
     */
    public function testConditionalRequests(array $fields, int $status): void
    {
        $response = $this->get('below/b.bin', $fields);
        self::assertSame($status, $response->status);
        $bodies = [200 => self::$content, 206 => substr(self::$content, 0, 10), 304 => '', 412 => ''];
        self::assertTrue($response->body === $bodies[$status], 'another body');
        self::assertSame('"6553f100-3e8"', $response->field('etag'));
    }

    public function testAFileThatChangedJustNowHasAWeakETag(): void
    {
        $path = self::$folder . '/root/fresh';
        file_put_contents($path, 'fresh');
        $file = self::file('fresh');
        self::assertStringStartsWith('W/"', $file->etag($file->time + 1));
        self::assertStringStartsWith('"', $file->etag($file->time + 2));
    }

    public function testA304HasTheFieldsOfIts200(): void
    {
        $more = '&cache_control=' . rawurlencode('public, max-age=60') . '&session';
        $whole = $this->get('below/b.bin', [], 'GET', $more);
        $same = $this->get('below/b.bin', ['If-None-Match' => '"6553f100-3e8"'], 'GET', $more);
        self::assertSame([200, 304], [$whole->status, $same->status]);
        $names = ['cache-control', 'etag', 'last-modified', 'content-type', 'content-disposition', 'expires', 'pragma'];
        foreach ($names as $name) {
            self::assertSame($whole->field($name), $same->field($name), $name);
        }
        self::assertSame('public, max-age=60', $whole->field('cache-control'));
        // What a session says about caching is not left beside it.
        self::assertSame([null, null], [$whole->field('expires'), $whole->field('pragma')]);
        self::assertNull($same->field('content-length'));
    }

    public function testTheSessionIsNotHeldWhileItIsSent(): void
    {
        foreach (['GET', 'HEAD'] as $method) {
            $response = $this->get('below/b.bin', [], $method, '&session');
            self::assertSame($method === 'GET' ? self::$content : '', $response->body);
        }
    }

    public function testOutputBuffersAndEncodingEnd(): void
    {
        foreach ([self::$server, new Server(['zlib.output_compression' => '1'])] as $server) {
            foreach (['', '&encoded'] as $more) {
                $response = $server->get("/download.php?path=below/b.bin$more", ['Accept-Encoding' => 'gzip']);
                self::assertNull($response->field('content-encoding'));
                self::assertSame('1000', $response->field('content-length'));
                self::assertTrue($response->body === self::$content, 'other content');
            }
        }
        $response = $this->get('below/b.bin', ['Accept-Encoding' => 'gzip'], 'GET', '&encoded&method=x-sendfile');
        self::assertSame([null, ''], [$response->field('content-length'), $response->body]);
    }

    public function testTheServerSendsIt(): void
    {
        $fields = ['Range' => 'bytes=0-9'];
        $response = $this->get('a file%.bin', $fields, 'GET', '&method=x-accel-redirect');
        self::assertSame([200, '', '/internal/a%20file%25.bin'], [
            $response->status, $response->body, $response->field('x-accel-redirect'),
        ]);
        self::assertSame('attachment; filename="a file_.bin"; filename*=UTF-8\'\'a%20file%25.bin', $response->field(
            'content-disposition'
        ));
        $response = $this->get('inside', [], 'GET', '&method=x-sendfile');
        self::assertSame(realpath(self::$folder . '/root/below/b.bin'), $response->field('x-sendfile'));
        $response = $this->get('leads-out', [], 'GET', '&method=x-lighttpd-send-file');
        self::assertSame([404, null], [$response->status, $response->field('x-lighttpd-send-file')]);
    }

    public function testWhatTheServerOffersDecides(): void
    {
        $settings = Settings::fromArray(['download' => ['prefix' => '/internal/']])->download;
        $file = self::file('a file%.bin');
        self::assertSame([], $file->offload($settings, []));
        self::assertSame([], $file->offload($settings, ['HTTP_WEIGHBRIDGE_SENDFILE' => 'x-sendfile']));
        self::assertSame([], $file->offload($settings, ['WEIGHBRIDGE_SENDFILE' => 'by hand']));
        $accel = ['WEIGHBRIDGE_SENDFILE' => 'X-Accel-Redirect'];
        $expected = ['X-Accel-Redirect' => '/internal/a%20file%25.bin'];
        self::assertSame($expected, $file->offload($settings, $accel));
        self::assertSame([], $file->offload(Settings::defaults()->download, $accel));
        // lighttpd decodes percent signs, Apache does not.
        $asked = ['WEIGHBRIDGE_SENDFILE' => 'x-sendfile'];
        $apache = $file->offload($settings, $asked + ['SERVER_SOFTWARE' => 'Apache/2.4']);
        self::assertSame(['X-Sendfile' => $file->path], $apache);
        $lighttpd = $file->offload($settings, $asked + ['SERVER_SOFTWARE' => 'lighttpd/1.4']);
        self::assertSame(['X-Sendfile' => str_replace('%', '%25', $file->path)], $lighttpd);
        $lighttpd = $file->offload($settings, ['WEIGHBRIDGE_SENDFILE' => 'x-lighttpd-send-file']);
        self::assertSame(['X-LIGHTTPD-send-file' => str_replace('%', '%25', $file->path)], $lighttpd);
    }

    /** @return iterable<string, array{array<string, mixed>, string}> */
    public static function wrongOptions(): iterable
    {
        yield 'unknown' => [
            ['root' => '/', 'filename' => 'b'],
            'unknown key Download: option filename; known: root, name, type, inline, cache_control',
        ];
        yield 'two lines' => [
            ['root' => '/', 'type' => "text/plain\r\nA: b"],
            'option type is "text/plain??A: b", expected a text of one line',
        ];
        yield 'a field of its own' => [['root' => '/', 'cache_control' => "a\nb: c"], 'option cache_control is "a?b: c"'];
        yield 'a number' => [['root' => '/', 'name' => 1], 'option name is 1, expected a text'];
        yield 'no boolean' => [['root' => '/', 'inline' => 'no'], 'option inline is "no", expected true or false'];
        yield 'no root' => [[], 'option root is "", expected the folder'];
        yield 'an empty root, which would be the working directory' => [['root' => ''], 'option root is "", expected the'];
    }

    /**
     * @dataProvider wrongOptions
     * @param array<string, mixed> $options
     */
    public function testAWrongOptionIsRefused(array $options, string $message): void
    {
        $this->expectException(InvalidSettings::class);
        $this->expectExceptionMessage($message);
        Download::prepare('a', $options);
    }

    /** PHP remembers where paths lead: for two minutes, without asking again. */
    public function testAPathThatBecameASymbolicLinkIsNotFollowed(): void
    {
        $root = self::$folder . '/changing';
        mkdir("$root/folder", 0700, true);
        mkdir(self::$folder . '/secret');
        file_put_contents(self::$folder . '/secret/file', 'a secret');
        foreach (['file' => 'folder/file', 'folder' => 'folder'] as $what => $changed) {
            exec('rm -rf ' . escapeshellarg($root));
            clearstatcache(true);
            mkdir("$root/folder", 0700, true);
            file_put_contents("$root/folder/file", 'not a secret');
            $first = Download::prepare('folder/file', ['root' => $root]);
            self::assertSame([200, 'not a secret'], [$first->status, $first->read(100)], $what);
            self::assertSame("$root/folder/file", realpath("$root/folder/file"));
            // By other programs, which PHP does not notice.
            $target = escapeshellarg(self::$folder . ($what === 'file' ? '/secret/file' : '/secret'));
            exec('rm -r ' . escapeshellarg("$root/$changed") . " && ln -s $target " . escapeshellarg("$root/$changed"));
            foreach (['stream', 'x-sendfile', 'x-lighttpd-send-file'] as $method) {
                $settings = Settings::fromArray(['download' => ['method' => $method, 'root' => $root]]);
                $second = Download::prepare('folder/file', [], $settings);
                self::assertSame([404, "Not found.\n"], [$second->status, $second->read(100)], "$what, $method");
            }
            self::assertSame('/secret/file', substr((string) realpath("$root/folder/file"), -12));
            exec('rm ' . escapeshellarg("$root/$changed") . ' && mkdir -p ' . escapeshellarg("$root/folder")
                . ' && echo again > ' . escapeshellarg("$root/folder/file"));
            self::assertSame("again\n", Download::prepare('folder/file', ['root' => $root])->read(100), $what);
        }
    }

    /** Between the opening and the look at the path somebody may have replaced it. */
    public function testWhatWasOpenedMustLieBelowTheRoot(): void
    {
        $root = self::$folder . '/root';
        $opened = static function (string $path) {
            $handle = fopen($path, 'rb');
            self::assertNotFalse($handle);
            return $handle;
        };
        $file = File::judge($opened("$root/inside"), $root, "$root/inside");
        self::assertNotNull($file);
        self::assertSame('below/b.bin', $file->below);
        self::assertNull(File::judge($opened(self::$folder . '/outside.bin'), $root, "$root/below/b.bin"));
        self::assertNull(File::judge($opened("$root/below"), $root, "$root/below"));
        // By one name inside, by another outside.
        link("$root/empty", self::$folder . '/linked');
        $outside = $opened(self::$folder . '/linked');
        self::assertNull(File::judge($opened("$root/empty"), $root, "$root/empty"));
        fclose($outside);
        self::assertNotNull(File::judge($opened("$root/empty"), $root, "$root/empty"));
    }

    public function testALinkThatIsSwappedAllTheTimeLeadsNowhere(): void
    {
        $root = self::$folder . '/swapped';
        mkdir("$root/folder", 0700, true);
        mkdir(self::$folder . '/hidden');
        file_put_contents("$root/folder/file", 'not a secret');
        file_put_contents(self::$folder . '/hidden/file', 'a secret');
        symlink(self::$folder . '/hidden', "$root/link");
        if (!extension_loaded('FFI')) {
            Frameworks::skip('swapped names: this PHP has no FFI, through which the test swaps them', true);
        }
        $swap = 'chdir($argv[1]); $c = FFI::cdef("int renameat2(int a, const char *b, int c, const char *d, unsigned e);");'
            . 'for (;;) { $c->renameat2(-100, "folder", -100, "link", 2); }';
        $process = proc_open(array_merge(Server::php(), ['-d', 'ffi.enable=1', '-r', $swap, '--', $root]), [], $pipes);
        self::assertIsResource($process);
        try {
            $contents = [];
            for ($i = 0; $i < 20000 && ($i < 2000 || count($contents) < 2); $i++) {
                $file = File::open($root, 'folder/file');
                $contents[$file === null ? 'refused' : (string) fread($file->handle, 100)] = true;
            }
            self::assertArrayNotHasKey('a secret', $contents);
            self::assertArrayHasKey('refused', $contents);
            self::assertArrayHasKey('not a secret', $contents);
        } finally {
            proc_terminate($process, 9);
            proc_close($process);
        }
    }

    /** Where PHP may not ask the system, the path is looked at. */
    public function testAPathThatIsLookedAtMustLeadToWhatWasOpened(): void
    {
        $root = self::$folder . '/root';
        $code = 'require $argv[1];'
            . 'foreach (["below/b.bin" => "inside", "empty" => "below/b.bin", "inside" => "absent"] as $a => $b) {'
            . '$file = Weighbridge\Library\Download\File::judge(fopen("$argv[2]/$a", "rb"), $argv[2], "$argv[2]/$b");'
            . 'echo $file === null ? "none" : $file->below, "\n"; }';
        $command = array_merge(Server::php(), ['-d', "open_basedir=$root:" . dirname(__DIR__), '-r', $code, '--']);
        array_push($command, __DIR__ . '/../autoload.php', $root);
        exec(implode(' ', array_map('escapeshellarg', $command)) . ' 2>&1', $lines);
        self::assertSame(['below/b.bin', 'none', 'none'], $lines);
    }

    public function testALinkThatReplacesAFileBetweenTwoRequestsIsNotFollowed(): void
    {
        // One process of PHP answers both.
        mkdir(self::$folder . '/root/between');
        file_put_contents(self::$folder . '/root/between/file', 'not a secret');
        self::assertSame([200, 'not a secret'], [$this->get('between/file')->status, $this->get('between/file')->body]);
        exec('rm ' . escapeshellarg(self::$folder . '/root/between/file') . ' && ln -s '
            . escapeshellarg(self::$folder . '/outside.bin') . ' ' . escapeshellarg(self::$folder . '/root/between/file'));
        foreach (['', '&method=x-sendfile', '&method=x-accel-redirect'] as $more) {
            $response = $this->get('between/file', [], 'GET', $more);
            self::assertSame([404, "Not found.\n"], [$response->status, $response->body]);
            self::assertSame([null, null], [$response->field('x-sendfile'), $response->field('x-accel-redirect')]);
        }
    }

    public function testWhatWasOpenedIsSentWhateverItsPathLeadsToLater(): void
    {
        file_put_contents(self::$folder . '/root/renamed', 'as it was opened');
        $download = Download::prepare('renamed', ['root' => self::$folder . '/root']);
        unlink(self::$folder . '/root/renamed');
        symlink('/etc/passwd', self::$folder . '/root/renamed');
        self::assertSame('as it was opened', $download->read(100));
        self::assertSame('', $download->read(100));
    }

    public function testAFileThatChangedJustNowIsSentWhole(): void
    {
        $path = self::$folder . '/root/fresh';
        file_put_contents($path, 'fresh');
        touch($path, time() + 60);
        clearstatcache();
        $date = gmdate('D, d M Y H:i:s', (int) filemtime($path)) . ' GMT';
        $ask = static function (array $fields): Download {
            return Download::prepare('fresh', ['root' => self::$folder . '/root'], null, new Request('GET', $fields));
        };
        $etag = $ask([])->fields['ETag'];
        self::assertStringStartsWith('W/', $etag);
        self::assertSame('application/octet-stream', $ask([])->fields['Content-Type']);
        // A weak validator cannot tell whether a part is one of the same content.
        foreach ([$etag, substr($etag, 2), $date] as $ifRange) {
            self::assertSame(200, $ask(['range' => 'bytes=0-1', 'if-range' => $ifRange])->status, $ifRange);
        }
        self::assertSame(206, $ask(['range' => 'bytes=0-1'])->status);
        self::assertSame(412, $ask(['if-match' => $etag])->status);
        self::assertSame(412, $ask(['if-match' => substr($etag, 2)])->status);
        self::assertSame(304, $ask(['if-none-match' => $etag])->status);
        self::assertSame(304, $ask(['if-none-match' => substr($etag, 2)])->status);
    }

    public function testAFileThatBecomesShorterEndsEarly(): void
    {
        file_put_contents(self::$folder . '/root/cut', str_repeat('a', 100));
        $download = Download::prepare('cut', ['root' => self::$folder . '/root', 'name' => "a\nb/c\nd"]);
        self::assertSame('attachment; filename="cd"', $download->fields['Content-Disposition']);
        self::assertSame('100', $download->fields['Content-Length']);
        file_put_contents(self::$folder . '/root/cut', str_repeat('a', 10));
        self::assertSame([str_repeat('a', 10), ''], [$download->read(100), $download->read(100)]);
        self::assertSame('', $download->read(100));
    }

    private static function file(string $path): File
    {
        $file = File::open(self::$folder . '/root', $path);
        self::assertNotNull($file);
        return $file;
    }

    /** @param array<string, string> $fields */
    private function get(string $path, array $fields = [], string $method = 'GET', string $more = ''): Response
    {
        self::$server = self::$server ?? new Server();
        return self::$server->get('/download.php?path=' . rawurlencode($path) . $more, $fields, $method);
    }
}
