<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests;

use Illuminate\Container\Container;
use Illuminate\Http\Request as LaravelRequest;
use Illuminate\Http\Response as LaravelResponse;
use Illuminate\Pipeline\Pipeline;
use Nyholm\Psr7\Factory\Psr17Factory;
use PHPUnit\Framework\TestCase;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Server\RequestHandlerInterface;
use Symfony\Component\EventDispatcher\EventDispatcher;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpKernel\Controller\ArgumentResolver;
use Symfony\Component\HttpKernel\Controller\ControllerResolver;
use Symfony\Component\HttpKernel\EventListener\ResponseListener as SymfonyResponseListener;
use Symfony\Component\HttpKernel\HttpKernel;
use Symfony\Component\HttpKernel\HttpKernelInterface;
use Weighbridge\Library\Laravel\EncodeResponse;
use Weighbridge\Library\Psr15\EncodingMiddleware;
use Weighbridge\Library\Settings;
use Weighbridge\Library\Symfony\ResponseEncoder;
use Weighbridge\Library\Tests\Support\CountedStream;
use Weighbridge\Library\Tests\Support\Frameworks;
use Weighbridge\Library\Tests\Support\Server;

/** The adapters, each in its framework as Debian packages it. */
final class AdaptersTest extends TestCase
{
    private static string $text = '';

    public static function setUpBeforeClass(): void
    {
        self::$text = str_repeat("A line of the page, with some words in it.\n", 200);
    }

    public function testAMiddlewareOfPsr15(): void
    {
        Frameworks::need('psr-7', Psr17Factory::class);
        Frameworks::need('psr-7', RequestHandlerInterface::class);
        $factory = new Psr17Factory();
        $text = self::$text;
        $handler = new class ($factory, $text) implements RequestHandlerInterface {
            private Psr17Factory $factory;
            private string $text;

            public function __construct(Psr17Factory $factory, string $text)
            {
                $this->factory = $factory;
                $this->text = $text;
            }

            public function handle(ServerRequestInterface $request): ResponseInterface
            {
                return $this->factory->createResponse(200)
                    ->withHeader('Content-Type', 'text/html; charset=utf-8')
                    ->withHeader('Content-Length', (string) strlen($this->text))
                    ->withHeader('Vary', 'Cookie')
                    ->withHeader('ETag', '"abc"')
                    ->withBody($this->factory->createStream($this->text));
            }
        };
        $middleware = new EncodingMiddleware($factory);
        $request = $factory->createServerRequest('GET', 'http://localhost/');
        $encoded = $middleware->process($request->withHeader('Accept-Encoding', 'gzip;q=0.5'), $handler);
        self::assertSame($text, gzdecode((string) $encoded->getBody()));
        self::assertSame('gzip', $encoded->getHeaderLine('Content-Encoding'));
        self::assertSame((string) $encoded->getBody()->getSize(), $encoded->getHeaderLine('Content-Length'));
        self::assertSame('Cookie, Accept-Encoding', $encoded->getHeaderLine('Vary'));
        self::assertSame('W/"abc"', $encoded->getHeaderLine('ETag'));
        $plain = $middleware->process($request, $handler);
        self::assertSame($text, (string) $plain->getBody());
        self::assertSame('"abc"', $plain->getHeaderLine('ETag'));
    }

    public function testWhatPsr15DoesNotRead(): void
    {
        Frameworks::need('psr-7', Psr17Factory::class);
        Frameworks::need('psr-7', RequestHandlerInterface::class);
        $factory = new Psr17Factory();
        stream_wrapper_register('counted', CountedStream::class);
        $request = $factory->createServerRequest('GET', '/')->withHeader('Accept-Encoding', 'gzip');
        // A pipe has the size 0, and more content than that.
        $settings = Settings::fromArray(['page' => ['rules' => [['coding' => 'gzip', 'min_bytes' => 0]]]]);
        $cases = [['0+9000', 'text/html', 0], [(1 << 24) + 1, 'text/html', 0]];
        array_push($cases, [9000, 'image/png', 0], [9000, 'text/event-stream', 0], [9000, 'text/html', 9000]);
        foreach ($cases as [$size, $type, $read]) {
            CountedStream::$read = 0;
            $stream = fopen("counted://$size", 'r');
            self::assertNotFalse($stream);
            $response = $factory->createResponse(200)->withHeader('Content-Type', $type);
            $response = $response->withBody($factory->createStreamFromResource($stream));
            $handler = new class ($response) implements RequestHandlerInterface {
                private ResponseInterface $response;

                public function __construct(ResponseInterface $response)
                {
                    $this->response = $response;
                }

                public function handle(ServerRequestInterface $request): ResponseInterface
                {
                    return $this->response;
                }
            };
            $sent = (new EncodingMiddleware($factory, $settings))->process($request, $handler);
            self::assertSame($read, CountedStream::$read, "$type of $size bytes");
            self::assertSame($read > 0 ? 'gzip' : '', $sent->getHeaderLine('Content-Encoding'));
        }
        stream_wrapper_unregister('counted');
    }

    public function testAConditionOfPsr15ComparesWhatTheApplicationGave(): void
    {
        Frameworks::need('psr-7', Psr17Factory::class);
        Frameworks::need('psr-7', RequestHandlerInterface::class);
        $factory = new Psr17Factory();
        $handler = new class ($factory) implements RequestHandlerInterface {
            private Psr17Factory $factory;

            public function __construct(Psr17Factory $factory)
            {
                $this->factory = $factory;
            }

            public function handle(ServerRequestInterface $request): ResponseInterface
            {
                $isKnown = $request->getHeaderLine('If-None-Match') === '"abc"';
                return $this->factory->createResponse($isKnown ? 304 : 200)->withHeader('ETag', '"abc"');
            }
        };
        $request = $factory->createServerRequest('GET', '/')->withHeader('Accept-Encoding', 'gzip');
        $sent = (new EncodingMiddleware($factory))->process($request->withHeader('If-None-Match', 'W/"abc"'), $handler);
        self::assertSame([304, 'W/"abc"', 'Accept-Encoding'], [
            $sent->getStatusCode(), $sent->getHeaderLine('ETag'), $sent->getHeaderLine('Vary'),
        ]);
    }

    public function testAListenerOfSymfony(): void
    {
        Frameworks::need('symfony http', HttpKernel::class);
        $response = $this->kernel(new Response(self::$text, 200, ['ETag' => '"abc"']), 'GET');
        self::assertSame(self::$text, gzdecode((string) $response->getContent()));
        self::assertSame('gzip', $response->headers->get('Content-Encoding'));
        self::assertSame('W/"abc"', $response->headers->get('ETag'));
        self::assertSame('Accept-Encoding', $response->headers->get('Vary'));
    }

    public function testSymfonysHeadHasTheFieldsOfGet(): void
    {
        Frameworks::need('symfony http', HttpKernel::class);
        $response = $this->kernel(new Response(self::$text, 200, ['Content-Length' => strlen(self::$text)]), 'HEAD');
        self::assertSame('', $response->getContent());
        self::assertSame('gzip', $response->headers->get('Content-Encoding'));
        self::assertNull($response->headers->get('Content-Length'));
    }

    /** @return iterable<string, array{string, string|null}> */
    public static function responsesOfSymfony(): iterable
    {
        yield 'a page' => ['page', 'gzip'];
        yield 'json' => ['json', 'gzip'];
        yield 'a page with fragments for a proxy' => ['esi', 'gzip'];
        yield 'a file' => ['file', null];
        yield 'streamed' => ['streamed', 'gzip'];
        yield 'streamed and flushed' => ['flushed', 'gzip'];
        yield 'streamed and long' => ['long', 'gzip'];
        yield 'streamed, and all buffers closed' => ['closed', null];
        yield 'events' => ['events', null];
    }

    /** @dataProvider responsesOfSymfony */
    public function testResponsesOfSymfonyAndLaravel(string $case, ?string $coding): void
    {
        Frameworks::need('symfony http', HttpKernel::class);
        $size = ['long' => 60 << 20, 'file' => 5000][$case] ?? 2 * strlen(self::$text);
        foreach (['', '&laravel'] as $framework) {
            if ($framework !== '') {
                Frameworks::need('laravel http', LaravelRequest::class);
            }
            $server = new Server(['memory_limit' => '24M']);
            $response = $server->get("/symfony.php?case=$case$framework", ['Accept-Encoding' => 'gzip']);
            self::assertSame(200, $response->status, $response->body . $server->log());
            self::assertSame($coding, $response->field('content-encoding'));
            self::assertSame($size, strlen($response->content()), $server->log());
            self::assertSame($case === 'esi' ? 'content="ESI/1.0"' : null, $response->field('surrogate-control'));
        }
    }

    public function testAConditionOfSymfonyComparesWhatTheApplicationGave(): void
    {
        Frameworks::need('symfony http', HttpKernel::class);
        $server = new Server();
        $get = static function (string $tag) use ($server): array {
            $fields = ['Accept-Encoding' => 'gzip', 'If-None-Match' => $tag];
            $response = $server->get('/symfony.php?case=conditional', $fields);
            return [$response->status, $response->field('etag'), $response->field('vary')];
        };
        self::assertSame([304, 'W/"abc"', 'Accept-Encoding'], $get('W/"abc"'));
        self::assertSame([304, '"abc"', 'Accept-Encoding'], $get('"abc"'));
        self::assertSame([200, 'W/"abc"', 'Accept-Encoding'], $get('W/"def"'));
    }

    public function testAMiddlewareOfLaravel(): void
    {
        Frameworks::need('laravel', Pipeline::class);
        Frameworks::need('laravel container', Container::class);
        Frameworks::need('laravel http', LaravelRequest::class);
        $request = LaravelRequest::create('/', 'GET', [], [], [], ['HTTP_ACCEPT_ENCODING' => 'gzip']);
        $container = new Container();
        $answer = static function () use ($container, $request): LaravelResponse {
            return (new Pipeline($container))->send($request)->through([EncodeResponse::class])->then(
                static function (LaravelRequest $request): LaravelResponse {
                    return (new LaravelResponse(self::$text))->prepare($request);
                }
            );
        };
        $response = $answer();
        self::assertSame(self::$text, gzdecode((string) $response->getContent()));
        self::assertSame('gzip', $response->headers->get('Content-Encoding'));
        $container->bind(Settings::class, static function (): Settings {
            return Settings::fromArray(['page' => ['rules' => []]]);
        });
        self::assertSame(self::$text, $answer()->getContent());
    }

    public function testAPluginOfWordPress(): void
    {
        $wordpress = getenv('WEIGHBRIDGE_WORDPRESS') ?: '/usr/share/wordpress';
        if (!is_file("$wordpress/wp-includes/plugin.php")) {
            Frameworks::skip('wordpress: it is not installed; WEIGHBRIDGE_WORDPRESS may name its folder', true);
        }
        $folder = sys_get_temp_dir() . '/weighbridge-' . bin2hex(random_bytes(6));
        mkdir("$folder/mu-plugins", 0700, true);
        $build = array_merge(Server::php(), [__DIR__ . '/../bin/build-wordpress', "$folder/mu-plugins/weighbridge.php"]);
        exec(implode(' ', array_map('escapeshellarg', $build)), $output, $status);
        self::assertSame(0, $status);
        putenv("WEIGHBRIDGE_WORDPRESS=$wordpress");
        putenv("WEIGHBRIDGE_CONTENT=$folder");
        $expected = strtoupper(str_repeat("a line of the page, with some words in it.\n", 200));
        $fields = ['Accept-Encoding' => 'gzip'];
        try {
            $server = new Server();
            $response = $server->get('/wordpress.php', $fields);
            self::assertSame('gzip', $response->field('content-encoding'));
            self::assertSame($expected, $response->content());
            self::assertSame($expected, $server->get('/wordpress.php')->body);
            if (extension_loaded('Zend OPcache') && extension_loaded('FFI')) {
                // The library that was preloaded is the one that the plugin uses.
                $preloading = new Server(PreloadTest::settings());
                $response = $preloading->get('/wordpress.php', ['Accept-Encoding' => 'br']);
                self::assertSame(['br', $expected], [$response->field('content-encoding'), $response->content()]);
            }
            file_put_contents("$folder/weighbridge.php", '<?php return ["page" => ["rules" => []]];');
            self::assertSame($expected, $server->get('/wordpress.php', $fields)->body);
            // Settings that cannot be used are logged, and the page is whole.
            file_put_contents("$folder/weighbridge.php", '<?php return ["pages" => []];');
            self::assertSame($expected, $server->get('/wordpress.php', $fields)->body);
            self::assertStringContainsString('unknown key pages; did you mean page?', $server->log());
        } finally {
            exec('rm -r ' . escapeshellarg($folder));
        }
    }

    public function testAFragmentOfSymfonyIsLeftToItsPage(): void
    {
        Frameworks::need('symfony http', HttpKernel::class);
        $fragment = new Response(self::$text, 200, ['Content-Type' => 'text/html']);
        $fragment = $this->kernel($fragment, 'GET', HttpKernelInterface::SUB_REQUEST);
        self::assertSame([self::$text, null], [$fragment->getContent(), $fragment->headers->get('Content-Encoding')]);
    }

    private function kernel(Response $response, string $method, int $type = HttpKernelInterface::MAIN_REQUEST): Response
    {
        $dispatcher = new EventDispatcher();
        $dispatcher->addSubscriber(new SymfonyResponseListener('UTF-8'));
        $dispatcher->addSubscriber(new ResponseEncoder());
        $kernel = new HttpKernel($dispatcher, new ControllerResolver(), null, new ArgumentResolver());
        $request = Request::create('/', $method, [], [], [], ['HTTP_ACCEPT_ENCODING' => 'gzip']);
        $request->attributes->set('_controller', static function () use ($response): Response {
            return $response;
        });
        return $kernel->handle($request, $type);
    }
}
