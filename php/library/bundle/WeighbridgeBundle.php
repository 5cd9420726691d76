<?php

declare(strict_types=1);

namespace Weighbridge\Bundle;

use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\ContainerInterface;
use Symfony\Component\DependencyInjection\Reference;
use Symfony\Component\HttpKernel\Bundle\Bundle;
use Weighbridge\Library\Marshaller;
use Weighbridge\Library\Settings;
use Weighbridge\Library\Symfony\ResponseEncoder;

/**
 * Encodes the responses of a Symfony application, and the values of its caches.
 *
 * The settings are `config/weighbridge.php`, or safe defaults without that file; the parameter `weighbridge.settings`
 * names another. An application leaves one of the two out by removing its service.
 */
final class WeighbridgeBundle extends Bundle
{
    public function build(ContainerBuilder $container): void
    {
        $settings = new Reference(Settings::class);
        $container->setParameter('weighbridge.settings', '%kernel.project_dir%/config/weighbridge.php');
        $container->register(Settings::class)->setFactory([Settings::class, 'load'])->addArgument('%weighbridge.settings%');
        $container->register(ResponseEncoder::class)->addArgument($settings)->addTag('kernel.event_subscriber');
        if (PHP_VERSION_ID >= 80000) {
            $container->register(Marshaller::class)
                ->setDecoratedService('cache.default_marshaller', null, 0, ContainerInterface::IGNORE_ON_INVALID_REFERENCE)
                ->setArguments([new Reference(Marshaller::class . '.inner'), $settings]);
        }
    }
}
