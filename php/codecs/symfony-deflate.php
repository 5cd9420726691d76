<?php
/**
 * Symfony's DeflateMarshaller as it is, from Debian's php-symfony-cache: it takes a value, serializes it and
 * calls gzdeflate() without a level, which is zlib's default, 6. What it writes is a raw DEFLATE stream.
 */

use Symfony\Component\Cache\Marshaller\DefaultMarshaller;
use Symfony\Component\Cache\Marshaller\DeflateMarshaller;
use Weighbridge\Coder;
use Weighbridge\Extension;
use Weighbridge\Fault;
use Weighbridge\Package;

$folder = '/usr/share/php';
$autoload = "$folder/Symfony/Component/Cache/autoload.php";
$package = 'php-symfony-cache';

return array(
    'format' => 'deflate',
    'sets' => array('cache'),
    'takes_value' => true,
    'nominal' => array(array(0, 18.0)),
    'bindings' => array(
        'library' => array(
            'missing' => function () use ($folder, $autoload, $package) {
                if (PHP_VERSION_ID < 70205) {
                    $message = 'Symfony\'s cache needs PHP 7.2.5 or newer, this is ' . PHP_VERSION;
                    return new Fault('missing', $message, 'use a newer PHP');
                }
                if (!function_exists('gzdeflate')) {
                    return Extension::missing('zlib', 'gzdeflate');
                }
                if (!is_file($autoload)) {
                    return new Fault('missing', 'Symfony\'s cache component is not installed', "apt install $package");
                }
                // The files load one another by the include path, and a newer Symfony may need a newer PHP:
                // whether it runs here is found out by letting it.
                $path = get_include_path();
                set_include_path($folder . PATH_SEPARATOR . $path);
                try {
                    require_once $autoload;
                    $marshaller = new DeflateMarshaller(new DefaultMarshaller(false));
                    $marshaller->marshall(array('try' => array(1)), $failed);
                } catch (\Throwable $error) {
                    $message = 'Symfony\'s cache does not load in PHP ' . PHP_VERSION . ': ' . $error->getMessage();
                    return new Fault('missing', $message, 'use the PHP that the installed Symfony is made for');
                } finally {
                    set_include_path($path);
                }
                return null;
            },
            'library' => function () use ($autoload, $package) {
                $version = Package::versionOwning($package, $autoload);
                $symfony = 'symfony/cache ' . ($version !== null ? $version : 'of unknown version');
                return "$symfony, " . Extension::library('zlib', 'zlib', array('Linked Version'));
            },
            'coder' => function () {
                // Left to itself DefaultMarshaller takes igbinary where it is loaded; with false it is always
                // serialize(), so that one name means one thing in every PHP.
                $marshaller = new DeflateMarshaller(new DefaultMarshaller(false));
                return new Coder(
                    function ($value) use ($marshaller) {
                        $marshalled = $marshaller->marshall(array('value' => $value), $failed);
                        return $marshalled['value'];
                    },
                    array(array($marshaller, 'unmarshall'))
                );
            },
        ),
    ),
);
