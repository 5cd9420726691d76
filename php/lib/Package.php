<?php
namespace Weighbridge;

/** Versions from Debian's package database, read as the text files it is made of. */
final class Package
{
    const DATABASE = '/var/lib/dpkg';

    /** @return string|null the package's version, if it is installed and `$path` is one of its files */
    public static function versionOwning($package, $path)
    {
        $info = self::DATABASE . "/info/$package";
        // A library's package has the architecture in its name there.
        foreach (array_merge(glob("$info.list") ?: array(), glob("$info:*.list") ?: array()) as $list) {
            $files = file($list, FILE_IGNORE_NEW_LINES);
            // A merged /usr makes two names of one file; the database has either.
            if (in_array($path, $files, true) || in_array(preg_replace('~^/usr~', '', $path), $files, true)) {
                return self::version($package);
            }
        }
        return null;
    }

    private static function version($package)
    {
        $status = fopen(self::DATABASE . '/status', 'r');
        $found = false;
        $version = null;
        while ($version === null && ($line = fgets($status)) !== false) {
            if (strncmp($line, 'Package: ', 9) === 0) {
                $found = rtrim($line) === "Package: $package";
            } elseif ($found && strncmp($line, 'Version: ', 9) === 0) {
                $version = rtrim(substr($line, 9));
            }
        }
        fclose($status);
        return $version;
    }
}
