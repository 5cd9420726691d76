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
use Symfony\Component\HttpFoundation\BinaryFileResponse;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpFoundation\StreamedResponse;
use Symfony\Component\HttpKernel\Controller\ArgumentResolver;
use Symfony\Component\HttpKernel\Controller\ControllerResolver;
use Symfony\Component\HttpKernel\EventListener\ResponseListener as SymfonyResponseListener;
use Symfony\Component\HttpKernel\HttpKernel;
use Symfony\Component\HttpKernel\HttpKernelInterface;
use Weighbridge\Library\Laravel\EncodeResponse;
use Weighbridge\Library\Psr15\EncodingMiddleware;
use Weighbridge\Library\Settings;
use Weighbridge\Library\Symfony\ResponseListener;
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

    public function testAStreamedResponseOfSymfony(): void
    {
        Frameworks::need('symfony http', HttpKernel::class);
        $response = $this->kernel(new StreamedResponse(static function (): void {
            echo self::$text;
            ob_flush();
            echo self::$text;
        }), 'GET');
        self::assertSame('gzip', $response->headers->get('Content-Encoding'));
        ob_start();
        $response->sendContent();
        self::assertSame(self::$text . self::$text, gzdecode((string) ob_get_clean()));
    }

    public function testAFileOfSymfonyIsLeftToTheServer(): void
    {
        Frameworks::need('symfony http', HttpKernel::class);
        $file = new BinaryFileResponse(__FILE__, 200, ['Content-Type' => 'text/plain']);
        self::assertNull($this->kernel($file, 'GET')->headers->get('Content-Encoding'));
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

    private function kernel(Response $response, string $method): Response
    {
        $dispatcher = new EventDispatcher();
        $dispatcher->addSubscriber(new SymfonyResponseListener('UTF-8'));
        $dispatcher->addSubscriber(new ResponseListener());
        $kernel = new HttpKernel($dispatcher, new ControllerResolver(), null, new ArgumentResolver());
        $request = Request::create('/', $method, [], [], [], ['HTTP_ACCEPT_ENCODING' => 'gzip']);
        $request->attributes->set('_controller', static function () use ($response): Response {
            return $response;
        });
        return $kernel->handle($request, HttpKernelInterface::MAIN_REQUEST);
    }
}
