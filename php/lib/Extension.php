<?php
namespace Weighbridge;

/** What is known of the extensions of this PHP, for the `missing` and `library` of a binding; and what the files that use one share. */
final class Extension
{
    /**
     * @param string $extension its name, `zlib`
     * @param string $function  a function of it that is needed
     * @return Fault|null why it cannot be used
     */
    public static function missing($extension, $function)
    {
        return function_exists($function) ? null : self::notLoaded($extension);
    }

    /**
     * @param string $extension its name, `redis`
     * @param string $class     a class of it that is needed
     * @return Fault|null why it cannot be used
     */
    public static function missingClass($extension, $class)
    {
        // A class of that name may also come from a library in PHP, which is another thing.
        return extension_loaded($extension) && class_exists($class, false) ? null : self::notLoaded($extension);
    }

    /**
     * @param string $extension its name
     * @param array  $labels    the label of its line in phpinfo(), such as `Linked Version`, in each of its versions
     * @return string|null the library's version that stands there, null where there is no such line
     */
    public static function version($extension, array $labels)
    {
        // phpinfo() is where extensions tell which library they were linked with; few have a constant for it.
        ob_start();
        $reflection = new \ReflectionExtension($extension);
        $reflection->info();
        $info = ob_get_clean();
        foreach ($labels as $label) {
            // Text on the command line, a table in HTML under a web server.
            $line = '~^(?:<tr><td class="e">)?' . preg_quote($label, '~') . '\s*(?:=>|</td><td class="v">)\s*(\d[^\s,<]*)~mi';
            if (preg_match($line, $info, $match)) {
                return $match[1];
            }
        }
        return null;
    }

    /** @return string the library with its version, or the extension's own version where it does not tell */
    public static function library($name, $extension, array $labels)
    {
        $version = self::version($extension, $labels);
        return $version !== null ? "$name $version" : "$name (extension " . phpversion($extension) . ')';
    }

    /**
     * @param string $encode `gzdeflate`
     * @param string $decode `gzinflate`
     * @return array the binding of a codec to two functions of the zlib extension
     */
    public static function zlibBinding($encode, $decode)
    {
        return array(
            'missing' => function () use ($encode) {
                return Extension::missing('zlib', $encode);
            },
            'library' => function () {
                return Extension::library('zlib', 'zlib', array('Linked Version'));
            },
            'coder' => function (Params $params) use ($encode, $decode) {
                // Timed as people call it, without a greatest length. For verification there is one; the
                // margin is there because some versions refuse an output that fills it exactly.
                $bounded = function ($encoded, $length) use ($decode) {
                    return $decode($encoded, $length + 64);
                };
                return new Coder(array($encode, $params->level), array($decode), $bounded);
            },
        );
    }

    /** @return string the version of the extension weighbridge */
    public static function weighbridge()
    {
        return 'weighbridge ' . phpversion('weighbridge');
    }

    /**
     * @param \Closure $coding Params to the name of the coding
     * @return array the binding of a codec to the extension weighbridge
     */
    public static function weighbridgeBinding(\Closure $coding)
    {
        return array(
            'missing' => function () {
                return Extension::missing('weighbridge', 'weighbridge_encode');
            },
            'library' => function () {
                return Extension::weighbridge();
            },
            'coder' => function (Params $params) use ($coding) {
                $coding = $coding($params);
                return new Coder(
                    function ($input) use ($coding, $params) {
                        return weighbridge_encode($input, $coding, $params->level);
                    },
                    function ($encoded, $expected) use ($coding) {
                        return weighbridge_decode($encoded, $coding, $expected);
                    }
                );
            },
        );
    }

    /** @return array what the ways share in which this project's library or extension encodes a page's output */
    public static function weighbridgeOutput()
    {
        $own = self::output();
        $own['options']['coding'] = array('words' => array('gzip', 'br', 'zstd'), 'about' => 'the content coding; gzip without it');
        return $own + array(
            'codings' => array('gzip', 'br', 'zstd'),
            'levels' => array('min' => 1, 'max' => 11, 'default' => 6, 'representative' => array(1, 3, 6, 9)),
            'nominal' => array(array(1, 200.0), array(6, 60.0), array(9, 20.0)),
        );
    }

    /** @return array what the ways share in which the zlib extension encodes a page's output */
    public static function zlibOutput()
    {
        return self::output() + array(
            'codings' => array('gzip', 'deflate'),
            'levels' => array('min' => 1, 'max' => 9, 'default' => 6, 'representative' => array(1, 6, 9)),
            'nominal' => array(array(1, 85.0), array(6, 18.0), array(9, 9.0)),
            'missing' => function () {
                return Extension::missing('zlib', 'ob_gzhandler');
            },
            'library' => function () {
                return Extension::library('zlib', 'zlib', array('Linked Version')) . ' (extension)';
            },
        );
    }

    /** @return array what the ways share in which the zstd extension encodes a page's output */
    public static function zstdOutput()
    {
        return self::output() + array(
            'codings' => array('zstd'),
            'levels' => array('min' => 1, 'max' => 22, 'default' => 3, 'representative' => array(1, 3, 6, 9, 15, 19)),
            'nominal' => array(array(1, 280.0), array(3, 160.0), array(9, 32.0), array(15, 5.0), array(19, 1.3)),
            'missing' => function () {
                return Extension::missing('zstd', 'ob_zstd_handler');
            },
            'library' => function () {
                return Extension::library('zstd', 'zstd', array('Interface Version', 'Libzstd version')) . ' (extension)';
            },
        );
    }

    private static function output()
    {
        $about = 'pieces, each flushed through the handler; 1 without it';
        return array(
            'kind' => 'on-the-fly',
            'subjects' => array('page'),
            'options' => array('pieces' => array('range' => array(1, 1000), 'about' => $about)),
        );
    }

    private static function notLoaded($extension)
    {
        $php = 'PHP ' . PHP_VERSION;
        return new Fault('missing', "the $extension extension is not loaded in this $php", self::remedy($extension));
    }

    /** @return string what would bring the extension to this PHP */
    public static function remedy($extension)
    {
        $series = PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION;
        $loadable = ini_get('extension_dir') . "/$extension.so";
        if (is_file($loadable)) {
            return "load $loadable: start this PHP without -n, or with -d extension=$extension";
        }
        if (in_array(PHP_BINARY, array("/usr/bin/php$series", "/usr/sbin/php-fpm$series"), true)) {
            return "apt install php$series-$extension";
        }
        return "add the $extension extension to this PHP (phpize in its source, or pecl install $extension)";
    }
}
