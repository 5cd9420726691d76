<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests;

use Illuminate\Support\ServiceProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Cache\Marshaller\DefaultMarshaller;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\HttpKernel\HttpKernel;
use Weighbridge\Bundle\WeighbridgeBundle;
use Weighbridge\Library\Laravel\WeighbridgeServiceProvider;
use Weighbridge\Library\Marshaller;
use Weighbridge\Library\Settings;
use Weighbridge\Library\Symfony\ResponseEncoder;
use Weighbridge\Library\Tests\Support\Frameworks;

/** What frameworks find of the package by themselves. */
final class BundleTest extends TestCase
{
    /** Symfony Flex looks in each namespace of PSR-4 for a class that is named like it. */
    public function testSymfonyFlexFindsTheBundle(): void
    {
        $package = self::package();
        self::assertSame('symfony-bundle', $package['type']);
        $folder = __DIR__ . '/../' . $package['autoload']['psr-4']['Weighbridge\\Bundle\\'];
        $parent = 'Symfony\Component\HttpKernel\Bundle\Bundle';
        self::assertStringContainsString($parent, (string) file_get_contents("$folder/WeighbridgeBundle.php"));
    }

    public function testLaravelFindsTheProvider(): void
    {
        self::assertSame([WeighbridgeServiceProvider::class], self::package()['extra']['laravel']['providers']);
        Frameworks::need('laravel cache', ServiceProvider::class);
        self::assertTrue(is_subclass_of(WeighbridgeServiceProvider::class, ServiceProvider::class));
    }

    public function testTheBundlesServices(): void
    {
        $container = self::container();
        $container->register('cache.default_marshaller', DefaultMarshaller::class)->setArguments([null])->setPublic(true);
        $container->getDefinition(ResponseEncoder::class)->setPublic(true);
        $container->getDefinition(Settings::class)->setPublic(true);
        $container->compile();
        self::assertInstanceOf(Marshaller::class, $container->get('cache.default_marshaller'));
        self::assertInstanceOf(ResponseEncoder::class, $container->get(ResponseEncoder::class));
        self::assertTrue($container->getDefinition(ResponseEncoder::class)->hasTag('kernel.event_subscriber'));
        self::assertEquals(Settings::defaults(), $container->get(Settings::class));
    }

    public function testTheBundleInAnApplicationWithoutCachesAndWithItsOwnSettings(): void
    {
        $container = self::container();
        $container->setParameter('weighbridge.settings', __DIR__ . '/site/settings.php');
        $container->getDefinition(Settings::class)->setPublic(true);
        $container->compile();
        self::assertFalse($container->has(Marshaller::class));
        $settings = $container->get(Settings::class);
        self::assertInstanceOf(Settings::class, $settings);
        self::assertSame(2048, $settings->value['minBytes']);
    }

    private static function container(): ContainerBuilder
    {
        if (!function_exists('array_is_list')) {
            Frameworks::skip('symfony services: as Debian packages it, it needs PHP 8.1', true);
        }
        Frameworks::need('symfony cache', DefaultMarshaller::class);
        Frameworks::need('symfony http', HttpKernel::class);
        Frameworks::need('symfony services', ContainerBuilder::class);
        require_once __DIR__ . '/../bundle/WeighbridgeBundle.php';
        $container = new ContainerBuilder();
        $container->setParameter('kernel.project_dir', sys_get_temp_dir());
        (new WeighbridgeBundle())->build($container);
        return $container;
    }

    /** @return array<string, mixed> */
    private static function package(): array
    {
        $package = json_decode((string) file_get_contents(__DIR__ . '/../composer.json'), true);
        self::assertIsArray($package);
        return $package;
    }
}
