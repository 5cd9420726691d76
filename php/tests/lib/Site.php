<?php
/** The entry scripts behind a server of PHP's own or a PHP-FPM, with a folder of contents; ended with the tests. */
final class Site
{
    const TOKEN = 'let-me-in';
    const SECONDS = 20;

    /** Folder of the contents. */
    public $contents;
    private $home;
    private $process;
    private $pipes = array();
    private $errors;
    private $address;
    private $fpm;

    /** @return Site `php -S` over the entry scripts, with these settings (name => value) */
    public static function builtIn(Lab $lab, $binary, $home, array $settings = array())
    {
        $site = new self($lab, $home, false);
        $probe = stream_socket_server('tcp://127.0.0.1:0');
        $site->address = stream_socket_get_name($probe, false);
        fclose($probe);
        $arguments = array($binary);
        foreach ($settings as $name => $value) {
            array_push($arguments, '-d', "$name=$value");
        }
        array_push($arguments, '-S', $site->address, '-t', "$home/delivery");
        $site->start($arguments, "tcp://{$site->address}");
        return $site;
    }

    /** @return Site a PHP-FPM with one pool on a private socket, and these settings (name => value) */
    public static function fpm(Lab $lab, $binary, $home, array $settings)
    {
        $site = new self($lab, $home, true);
        $site->address = $lab->folder->name();
        $ini = '';
        foreach ($settings as $name => $value) {
            $ini .= "$name=$value\n";
        }
        $root = function_exists('posix_geteuid') && posix_geteuid() === 0;
        $pool = "[global]\ndaemonize=no\nerror_log={$site->errors}\n[pages]\nlisten={$site->address}\npm=static\n"
            . "pm.max_children=1\n" . ($root ? "user=root\ngroup=root\n" : '');
        foreach ($site->environment() as $name => $value) {
            $pool .= "env[$name]=$value\n";
        }
        $arguments = array($binary, '-n', '-c', $lab->folder->file($ini), '-y', $lab->folder->file($pool), '-F');
        $site->start($root ? array_merge($arguments, array('-R')) : $arguments, "unix://{$site->address}");
        return $site;
    }

    /** @return string|null the PHP-FPM of this PHP's version, null where there is none */
    public static function findFpm($version)
    {
        $folders = array_merge(explode(':', (string) getenv('PATH')), array('/usr/sbin', '/usr/local/sbin'));
        foreach ($folders as $folder) {
            if (is_executable("$folder/php-fpm$version")) {
                return "$folder/php-fpm$version";
            }
        }
        return null;
    }

    /** @return Answer to a GET */
    public function get($script, array $query = array(), array $headers = array())
    {
        if ($this->fpm) {
            return Answer::parse(FastCgi::get($this->address, "{$this->home}/delivery/$script", $query, $headers));
        }
        $socket = stream_socket_client("tcp://{$this->address}");
        stream_set_timeout($socket, self::SECONDS);
        $request = "GET /$script?" . http_build_query($query) . " HTTP/1.0\r\nHost: localhost\r\n";
        foreach ($headers as $name => $value) {
            $request .= "$name: $value\r\n";
        }
        fwrite($socket, "$request\r\n");
        $response = stream_get_contents($socket);
        fclose($socket);
        return Answer::parse($response);
    }

    public function end()
    {
        proc_terminate($this->process, 3);
        proc_close($this->process);
    }

    /** Starts it, and waits until it takes connections; called once. */
    public function start(array $arguments, $address)
    {
        $line = PHP_VERSION_ID >= 70400 ? $arguments : 'exec ' . implode(' ', array_map('escapeshellarg', $arguments));
        $streams = array(array('file', '/dev/null', 'r'), array('file', $this->errors, 'a'), array('file', $this->errors, 'a'));
        $environment = $this->environment() + array('PATH' => getenv('PATH'));
        $this->process = proc_open($line, $streams, $this->pipes, null, $environment);
        for ($i = 0; $i < self::SECONDS * 20; ++$i) {
            try {
                fclose(stream_socket_client($address));
                return;
            } catch (ErrorException $error) {
                usleep(50000);
            }
            if (!proc_get_status($this->process)['running']) {
                throw new Failure('the server ended: ' . trim(file_get_contents($this->errors)));
            }
        }
        throw new Failure("no server at $address: " . $error->getMessage());
    }

    private function __construct(Lab $lab, $home, $fpm)
    {
        $this->home = $home;
        $this->fpm = $fpm;
        $this->errors = $lab->folder->name();
        $this->contents = $lab->folder->name();
        mkdir($this->contents);
    }

    private function environment()
    {
        return array('WEIGH_PHP_HOME' => $this->home, 'WEIGH_CONTENTS' => $this->contents, 'WEIGH_TOKEN' => self::TOKEN);
    }
}
