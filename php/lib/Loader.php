<?php
namespace Weighbridge;

/** Loads the definitions in a folder: PHP files that return an array, one noun each, known by their names. */
final class Loader
{
    /** @return array path by name, of every `*.php` in the folder, sorted */
    public static function files($folder)
    {
        $files = array();
        foreach (glob("$folder/*.php") ?: array() as $file) {
            $files[basename($file, '.php')] = $file;
        }
        ksort($files);
        return $files;
    }

    /**
     * (Before PHP 7 a syntax error cannot be caught: there it ends the worker, with the file named on stderr.)
     *
     * @param \Closure $make gets the array; what it returns is the result
     * @return array the result and null; or null and why the file cannot be used, one line
     */
    public static function load($file, \Closure $make)
    {
        $made = null;
        $reason = null;
        ob_start();
        try {
            $spec = self::run($file);
            if (!is_array($spec)) {
                throw new Fault('missing', 'it must return an array');
            }
            $made = $make($spec);
        } catch (\Exception $error) {
            $reason = $error->getMessage();
        } catch (\Throwable $error) {
            $reason = $error->getMessage();
        }
        ob_end_clean();
        return array($made, $reason === null ? null : Text::line(basename($file) . " cannot be used: $reason"));
    }

    /** In a scope of its own. */
    private static function run($file)
    {
        return require $file;
    }
}
