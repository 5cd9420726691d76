<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests;

use Nyholm\Psr7\Factory\Psr17Factory;
use PHPUnit\Framework\TestCase;
use Psr\Http\Message\ResponseInterface;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpKernel\HttpKernel;
use Weighbridge\Library\Psr7\DownloadResponse as Psr7Response;
use Weighbridge\Library\Symfony\DownloadResponse;
use Weighbridge\Library\Symfony\ResponseEncoder;
use Weighbridge\Library\Tests\Support\Frameworks;

/** Downloads as responses of frameworks. */
final class DownloadResponseTest extends TestCase
{
    private const OPTIONS = ['root' => __DIR__, 'type' => 'text/plain', 'cache_control' => 'private'];

    public function testInSymfony(): void
    {
        Frameworks::need('symfony http', HttpKernel::class);
        $expected = (string) file_get_contents(__FILE__);
        [$response, $content] = self::symfony([]);
        self::assertSame([200, $expected], [$response->getStatusCode(), $content]);
        self::assertSame((string) strlen($expected), $response->headers->get('Content-Length'));
        self::assertSame('attachment; filename="DownloadResponseTest.php"', $response->headers->get('Content-Disposition'));
        // It could be encoded by its type, and is not.
        self::assertNull($response->headers->get('Content-Encoding'));
        $etag = (string) $response->headers->get('ETag');
        [$response, $content] = self::symfony(['HTTP_IF_NONE_MATCH' => $etag]);
        self::assertSame([304, '', $etag], [$response->getStatusCode(), $content, $response->headers->get('ETag')]);
        [$response, $content] = self::symfony(['HTTP_RANGE' => 'bytes=2-4']);
        self::assertSame([206, 'php'], [$response->getStatusCode(), $content]);
        self::assertSame('3', $response->headers->get('Content-Length'));
        [$response, $content] = self::symfony([], 'HEAD');
        self::assertSame([200, ''], [$response->getStatusCode(), $content]);
        self::assertSame((string) strlen($expected), $response->headers->get('Content-Length'));
        self::assertSame(404, DownloadResponse::to(Request::create('/'), 'nothing', self::OPTIONS)->getStatusCode());
    }

    public function testInPsr7(): void
    {
        Frameworks::need('psr-7', Psr17Factory::class);
        $expected = (string) file_get_contents(__FILE__);
        $response = self::psr7([]);
        self::assertSame([200, $expected], [$response->getStatusCode(), (string) $response->getBody()]);
        self::assertSame('text/plain', $response->getHeaderLine('Content-Type'));
        self::assertSame((string) strlen($expected), $response->getHeaderLine('Content-Length'));
        // PSR-7 has no stream of a part: the whole file is what RFC 9110 allows, too.
        $part = self::psr7(['Range' => 'bytes=2-4']);
        self::assertSame([200, ''], [$part->getStatusCode(), $part->getHeaderLine('Accept-Ranges')]);
        self::assertSame($expected, (string) $part->getBody());
        $etag = $response->getHeaderLine('ETag');
        $response = self::psr7(['If-None-Match' => $etag]);
        self::assertSame([304, ''], [$response->getStatusCode(), (string) $response->getBody()]);
        self::assertSame($etag, $response->getHeaderLine('ETag'));
    }

    public function testAContentOfSeveralPiecesInPsr7(): void
    {
        Frameworks::need('psr-7', Psr17Factory::class);
        $path = (string) tempnam(sys_get_temp_dir(), 'weighbridge');
        try {
            file_put_contents($path, random_bytes(300000));
            $factory = new Psr17Factory();
            $request = $factory->createServerRequest('GET', 'http://localhost/');
            $response = Psr7Response::to($request, $factory, $path, ['root' => dirname($path)]);
            self::assertTrue((string) $response->getBody() === file_get_contents($path), 'other content');
        } finally {
            unlink($path);
        }
    }

    /**
     * @param array<string, string> $server
     * @return array{DownloadResponse, string} the response, and what it prints
     */
    private static function symfony(array $server, string $method = 'GET'): array
    {
        $request = Request::create('/', $method, [], [], [], $server + ['HTTP_ACCEPT_ENCODING' => 'gzip']);
        $response = DownloadResponse::to($request, basename(__FILE__), self::OPTIONS);
        (new ResponseEncoder())->encode($request, $response);
        $response->prepare($request);
        ob_start();
        $response->sendContent();
        return [$response, (string) ob_get_clean()];
    }

    /** @param array<string, string> $fields */
    private static function psr7(array $fields): ResponseInterface
    {
        $factory = new Psr17Factory();
        $request = $factory->createServerRequest('GET', 'http://localhost/');
        foreach ($fields as $name => $value) {
            $request = $request->withHeader($name, $value);
        }
        return Psr7Response::to($request, $factory, basename(__FILE__), self::OPTIONS);
    }
}
