<?php
namespace Weighbridge;

/** Symfony's cache component as Debian packages it (php-symfony-cache). */
final class Symfony
{
    const PACKAGE = 'php-symfony-cache';
    const FOLDER = '/usr/share/php';

    /**
     * The files load one another by the include path, and a newer Symfony may need a newer PHP: whether it runs here is
     * found out by letting it.
     *
     * @param \Closure $try uses what is needed of it, once it is loaded
     * @return Fault|null why it cannot be used
     */
    public static function missing(\Closure $try)
    {
        if (PHP_VERSION_ID < 70205) {
            return new Fault('missing', 'Symfony\'s cache needs PHP 7.2.5 or newer, this is ' . PHP_VERSION, 'use a newer PHP');
        }
        if (!is_file(self::autoload())) {
            return new Fault('missing', 'Symfony\'s cache component is not installed', 'apt install ' . self::PACKAGE);
        }
        $path = get_include_path();
        set_include_path(self::FOLDER . PATH_SEPARATOR . $path);
        try {
            require_once self::autoload();
            $try();
        } catch (\Throwable $error) {
            $message = 'Symfony\'s cache does not load in PHP ' . PHP_VERSION . ': ' . $error->getMessage();
            return new Fault('missing', $message, 'use the PHP that the installed Symfony is made for');
        } finally {
            set_include_path($path);
        }
        return null;
    }

    /** @return string its name and version */
    public static function library()
    {
        $version = Package::versionOwning(self::PACKAGE, self::autoload());
        return 'symfony/cache ' . ($version !== null ? $version : 'of unknown version');
    }

    private static function autoload()
    {
        return self::FOLDER . '/Symfony/Component/Cache/autoload.php';
    }
}
