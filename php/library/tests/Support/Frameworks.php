<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests\Support;

use PHPUnit\Framework\Assert;

/** The frameworks that adapters are tried in, as Debian packages them. */
final class Frameworks
{
    /** Where packages of PHP lie, and what loads them. */
    private const AUTOLOADERS = [
        'symfony cache' => 'Symfony/Component/Cache/autoload.php',
        'symfony http' => 'Symfony/Component/HttpKernel/autoload.php',
        'symfony services' => 'Symfony/Component/DependencyInjection/autoload.php',
        'psr-16' => 'Psr/SimpleCache/autoload.php',
        'laravel cache' => 'Illuminate/Cache/autoload.php',
        'laravel config' => 'Illuminate/Config/autoload.php',
        'laravel' => 'Illuminate/Pipeline/autoload.php',
        'laravel container' => 'Illuminate/Container/autoload.php',
        'laravel http' => 'Illuminate/Http/autoload.php',
        'psr-7' => 'Nyholm/Psr7/autoload.php',
    ];

    /** Loads a framework, or skips the test that needs it. */
    public static function need(string $framework, string $class): void
    {
        set_include_path('/usr/share/php');
        foreach (['Symfony/Polyfill/Php80/autoload.php', self::AUTOLOADERS[$framework]] as $file) {
            if (is_file("/usr/share/php/$file")) {
                require_once "/usr/share/php/$file";
            }
        }
        // Debian has no package of PSR-15.
        if (strncmp($class, 'Psr\\Http\\Server\\', 16) === 0 && !interface_exists($class)) {
            require __DIR__ . '/psr15.php';
        }
        if (!class_exists($class) && !interface_exists($class)) {
            self::skip("$framework: $class is not installed", false);
        }
    }

    /**
     * Skips a test and says why. With WEIGH_STRICT=1, as in CI, that is a failure unless it is to be expected.
     *
     * @return never
     */
    public static function skip(string $reason, bool $isExpected): void
    {
        fwrite(STDERR, "\nskipped: $reason\n");
        if (getenv('WEIGH_STRICT') === '1' && !$isExpected) {
            Assert::fail("skipped, and WEIGH_STRICT is set: $reason");
        }
        Assert::markTestSkipped($reason);
    }
}
