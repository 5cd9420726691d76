<?php
/** The entry scripts behind each server for the PHP under test, over the same few contents. */
final class Sites
{
    private $lab;
    private $binary;
    private $home;
    private $runner;

    public function __construct(Runner $runner, Lab $lab, $binary)
    {
        $this->runner = $runner;
        $this->lab = $lab;
        $this->binary = $binary;
        $this->home = dirname(dirname(__DIR__));
    }

    /** Calls `$cases` with each server's title and Site; a server that is not there is a skipped test. */
    public function each(\Closure $cases)
    {
        $begins = array(
            'php -S' => function () {
                return $this->builtIn();
            },
            'php-fpm' => function () {
                return $this->fpm();
            },
        );
        foreach ($begins as $title => $begin) {
            $site = null;
            $this->runner->test("$title starts", function () use (&$site, $begin) {
                $site = $begin();
            });
            if ($site !== null) {
                $cases($title, $site);
                $site->end();
            }
        }
    }

    /** @return Site PHP's own server over a copy of the PHP side with these files added, where memory is short */
    public function with(array $files)
    {
        $source = $this->lab->sourceWith($files);
        return $this->fill(Site::builtIn($this->lab, $this->binary, $source, array('memory_limit' => '64M')));
    }

    private function builtIn()
    {
        $settings = array('output_buffering' => '4096') + ($this->preloads() ? array('ffi.enable' => '1') : array());
        return $this->fill(Site::builtIn($this->lab, $this->binary, $this->home, $settings));
    }

    private function fpm()
    {
        $version = $this->version();
        $fpm = Site::findFpm($version);
        if ($fpm === null) {
            throw new Skip("there is no php-fpm$version: apt install php$version-fpm");
        }
        $settings = array();
        if ($this->preloads()) {
            $settings = array(
                'zend_extension' => 'opcache.so', 'extension' => 'ffi.so', 'ffi.enable' => 'preload',
                'opcache.preload' => "{$this->home}/delivery/preload.php",
            );
            $root = function_exists('posix_geteuid') && posix_geteuid() === 0;
            $settings += $root ? array('opcache.preload_user' => 'root') : array();
        }
        return $this->fill(Site::fpm($this->lab, $fpm, $this->home, $settings));
    }

    private function fill(Site $site)
    {
        $files = array(
            'page.html' => Lab::text(60000), 'photo.jpg' => Lab::noise(100000), 'empty.txt' => '',
            'app.js' => Lab::text(60000), 'app.js.gz' => gzencode(Lab::text(60000), 9),
        );
        foreach ($files as $name => $content) {
            file_put_contents("{$site->contents}/$name", $content);
        }
        return $site;
    }

    private function preloads()
    {
        return version_compare($this->version(), '7.4', '>=');
    }

    private function version()
    {
        $code = "echo PHP_MAJOR_VERSION, '.', PHP_MINOR_VERSION;";
        return trim(shell_exec(escapeshellarg($this->binary) . ' -n -r ' . escapeshellarg($code)));
    }
}
