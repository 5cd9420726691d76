<?php

/**
 * An empty PSR-15 application with the library as Composer installed it, and Nyholm's PSR-7 as Debian packages it.
 * Usage: psr15.php VENDOR
 */

declare(strict_types=1);

namespace Weighbridge\Library\Tests\Installed;

use Nyholm\Psr7\Factory\Psr17Factory;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Server\RequestHandlerInterface;
use RuntimeException;
use Weighbridge\Library\Psr15\EncodingMiddleware;
use Weighbridge\Library\Psr7\DownloadResponse;

require "$argv[1]/autoload.php";
set_include_path('/usr/share/php');
require 'Nyholm/Psr7/autoload.php';
if (!interface_exists(RequestHandlerInterface::class)) {
    require __DIR__ . '/../Support/psr15.php';
}

final class Application implements RequestHandlerInterface
{
    private Psr17Factory $factory;

    public function __construct(Psr17Factory $factory)
    {
        $this->factory = $factory;
    }

    public function handle(ServerRequestInterface $request): ResponseInterface
    {
        if ($request->getUri()->getPath() === '/download') {
            $options = ['root' => __DIR__, 'type' => 'text/plain'];
            return DownloadResponse::to($request, $this->factory, basename(__FILE__), $options);
        }
        return $this->factory->createResponse(200)->withHeader('Content-Type', 'text/html')
            ->withBody($this->factory->createStream(str_repeat('some words ', 400)));
    }
}

$factory = new Psr17Factory();
$middleware = new EncodingMiddleware($factory);
$answer = static function (string $path) use ($factory, $middleware): ResponseInterface {
    $request = $factory->createServerRequest('GET', "http://localhost$path")->withHeader('Accept-Encoding', 'gzip');
    return $middleware->process($request, new Application($factory));
};
if (gzdecode((string) $answer('/')->getBody()) !== str_repeat('some words ', 400)) {
    throw new RuntimeException("psr-15: the page is not encoded, or another");
}
if (gzdecode((string) $answer('/download')->getBody()) !== file_get_contents(__FILE__)) {
    throw new RuntimeException("psr-15: the download is another");
}
echo "psr-15: a page and a download of text are encoded\n";
