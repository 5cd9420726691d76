<?php
/** A store's server, private to the tests: in the foreground, on a socket in their folder, ended with them. */
final class Server
{
    const SECONDS = 20;

    /** Path of its socket. */
    public $socket;
    /** Path of what it says, and, of a scripted one, of the times that it noted. */
    public $errors;
    public $log;
    private $process;

    /** @return Server a redis-server with these further arguments */
    public static function redis(Lab $lab, array $arguments = array())
    {
        $program = self::find('redis-server');
        return self::start($lab, function ($socket) use ($program, $lab, $arguments) {
            $command = array($program, '--port', '0', '--unixsocket', $socket, '--unixsocketperm', '700');
            $command = array_merge($command, array('--save', '', '--appendonly', 'no', '--dir', dirname($socket)));
            return array_merge($command, $arguments);
        });
    }

    /** @return Server a memcached with these further arguments */
    public static function memcached(Lab $lab, array $arguments = array())
    {
        $program = self::find('memcached');
        $root = function_exists('posix_geteuid') ? posix_geteuid() === 0 : getenv('USER') === 'root';
        return self::start($lab, function ($socket) use ($program, $arguments, $root) {
            $command = array($program, '-s', $socket, '-a', '0700');
            return array_merge($command, $root ? array('-u', 'root') : array(), $arguments);
        });
    }

    /** @return Server one that does as the script says (see peers/store.php) */
    public static function scripted(Lab $lab, $protocol, array $script)
    {
        $log = $lab->folder->name();
        $server = self::start($lab, function ($socket) use ($protocol, $script, $log) {
            $peer = dirname(__DIR__) . '/peers/store.php';
            return array(PHP_BINARY, $peer, $protocol, $socket, $log, json_encode((object) $script));
        });
        $server->log = $log;
        return $server;
    }

    /** What a script says holds from now on. */
    public function begin()
    {
        touch("{$this->log}.begin");
    }

    /** Ends it, and waits until it is gone. */
    public function end()
    {
        if ($this->process !== null) {
            proc_terminate($this->process, 9);
            proc_close($this->process);
            $this->process = null;
        }
    }

    /** @return string what the server answers to a line, up to the end of one read */
    public function ask($line)
    {
        $socket = stream_socket_client("unix://{$this->socket}");
        fwrite($socket, "$line\r\n");
        $answer = fgets($socket);
        fclose($socket);
        return rtrim($answer);
    }

    private static function start(Lab $lab, Closure $command)
    {
        $server = new self();
        $server->socket = $lab->folder->name();
        $server->errors = $lab->folder->name();
        $arguments = $command($server->socket);
        $line = PHP_VERSION_ID >= 70400 ? $arguments : 'exec ' . implode(' ', array_map('escapeshellarg', $arguments));
        $streams = array(array('file', '/dev/null', 'r'), array('file', $server->errors, 'w'), array('file', $server->errors, 'a'));
        $server->process = proc_open($line, $streams, $pipes);
        array_map('fclose', $pipes);
        register_shutdown_function(array($server, 'end'));
        $until = microtime(true) + self::SECONDS;
        while (!file_exists($server->socket) || !self::accepts($server->socket)) {
            if (microtime(true) > $until || !proc_get_status($server->process)['running']) {
                $said = trim(file_get_contents($server->errors));
                $server->end();
                throw new Failure("{$arguments[0]} did not start: $said");
            }
            usleep(10000);
        }
        return $server;
    }

    /** A scripted server serves one client after the other, and must not be held up by this one. */
    private static function accepts($socket)
    {
        try {
            return fclose(stream_socket_client("unix://$socket"));
        } catch (ErrorException $refused) {
            return false;
        }
    }

    private static function find($program)
    {
        foreach (explode(':', (string) getenv('PATH')) as $folder) {
            if (is_executable("$folder/$program")) {
                return "$folder/$program";
            }
        }
        throw new Skip("$program is not installed: apt install $program");
    }
}
