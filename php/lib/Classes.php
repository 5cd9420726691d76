<?php
namespace Weighbridge;

/** Where classes stand, one a file: those of the PHP side beside this one, those of a store in its own folder. */
final class Classes
{
    /** Finds `Weighbridge\NAME` here. */
    public static function here()
    {
        spl_autoload_register(function ($class) {
            if (strncmp($class, 'Weighbridge\\', 12) === 0) {
                self::load(__DIR__ . '/' . substr($class, 12) . '.php');
            }
        });
    }

    /**
     * Finds `Weighbridge\STORE\NAME` at STORE/lib/NAME.php; the folder's name is the store's, in small letters and with
     * hyphens as it likes.
     *
     * @param string $folder the folder that has a folder for each store
     */
    public static function ofStores($folder)
    {
        $folders = array();
        foreach (glob("$folder/*/lib", GLOB_ONLYDIR) ?: array() as $lib) {
            $folders[str_replace('-', '', basename(dirname($lib)))] = $lib;
        }
        spl_autoload_register(function ($class) use ($folders) {
            $words = explode('\\', $class);
            $store = count($words) === 3 && $words[0] === 'Weighbridge' ? strtolower($words[1]) : '';
            if (isset($folders[$store])) {
                self::load("{$folders[$store]}/{$words[2]}.php");
            }
        });
    }

    private static function load($file)
    {
        if (is_file($file)) {
            require $file;
        }
    }
}
