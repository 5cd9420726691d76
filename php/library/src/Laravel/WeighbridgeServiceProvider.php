<?php

declare(strict_types=1);

namespace Weighbridge\Library\Laravel;

use Illuminate\Support\ServiceProvider;
use Weighbridge\Library\Envelope;
use Weighbridge\Library\Settings;

/**
 * Gives a Laravel application the settings of `config/weighbridge.php`, and stores of the driver `weighbridge`, which
 * keep encoded values in the store that they name:
 *
 *     'encoded' => ['driver' => 'weighbridge', 'store' => 'redis'],       // in config/cache.php
 */
final class WeighbridgeServiceProvider extends ServiceProvider
{
    public function register(): void
    {
        $this->app->singleton(Settings::class, static function ($app): Settings {
            // A settings file is read as any of Laravel's: with `config:cache`, from its cache.
            $settings = $app->make('config')->get('weighbridge');
            return is_array($settings) ? Settings::fromArray($settings) : Settings::defaults();
        });
        $this->callAfterResolving('cache', static function ($cache): void {
            // Not a static one: Laravel binds it to its manager.
            $cache->extend('weighbridge', function ($app, array $config) use ($cache) {
                $store = $cache->store($config['store'] ?? null)->getStore();
                return $cache->repository(new EncodedStore($store, new Envelope($app->make(Settings::class))));
            });
        });
    }
}
