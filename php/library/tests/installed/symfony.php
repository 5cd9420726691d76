<?php

/**
 * An empty Symfony application with the bundle as Composer installed it, and Symfony as Debian packages it.
 * Usage: symfony.php VENDOR
 */

declare(strict_types=1);

namespace Weighbridge\Library\Tests\Installed;

use RuntimeException;
use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Component\Config\Loader\LoaderInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\Response;
use Symfony\Component\HttpKernel\Kernel;
use Weighbridge\Bundle\WeighbridgeBundle;

require "$argv[1]/autoload.php";
set_include_path('/usr/share/php');
foreach (['Bundle/FrameworkBundle', 'Component/Cache', 'Component/HttpKernel'] as $package) {
    require "Symfony/$package/autoload.php";
}

final class Application extends Kernel
{
    public function registerBundles(): iterable
    {
        return [new FrameworkBundle(), new WeighbridgeBundle()];
    }

    public function registerContainerConfiguration(LoaderInterface $loader): void
    {
        $loader->load(static function (ContainerBuilder $container): void {
            $container->loadFromExtension('framework', ['secret' => 'none', 'http_method_override' => false]);
        });
    }

    public function getProjectDir(): string
    {
        return dirname($GLOBALS['argv'][1]);
    }
}

$kernel = new Application('prod', false);
$kernel->boot();
$text = str_repeat('some words ', 400);
$request = Request::create('/', 'GET', [], [], [], ['HTTP_ACCEPT_ENCODING' => 'gzip']);
$request->attributes->set('_controller', static function () use ($text): Response {
    return new Response($text);
});
$response = $kernel->handle($request);
if ($response->headers->get('Content-Encoding') !== 'gzip' || gzdecode((string) $response->getContent()) !== $text) {
    throw new RuntimeException("symfony: the page is not encoded, or another");
}
$cache = $kernel->getContainer()->get('cache.app');
$cache->save($cache->getItem('text')->set($text));
exec('grep -rl ' . escapeshellarg($text) . ' ' . escapeshellarg($kernel->getCacheDir()) . '/pools', $unencoded);
if ($cache->getItem('text')->get() !== $text || $unencoded !== []) {
    throw new RuntimeException("symfony: the value is not encoded, or another");
}
echo "symfony: a page and a cached value are encoded\n";
