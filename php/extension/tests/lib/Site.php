<?php

declare(strict_types=1);

/** PHP's own server with the extension, over the scripts in `pages`. */
final class Site
{
    /** How long a response may take. */
    public const SECONDS = 30;

    private readonly int $port;
    /** @var resource */
    private $process;
    private readonly string $log;

    /** @param array<string, string> $settings beside the extension itself */
    public function __construct(array $settings = [])
    {
        $free = stream_socket_server('tcp://127.0.0.1:0');
        $this->port = (int) substr(strrchr(stream_socket_get_name($free, false), ':'), 1);
        fclose($free);
        $this->log = tempnam(sys_get_temp_dir(), 'weighbridge-log-');
        $settings += ['extension' => self::extension(), 'error_log' => $this->log, 'display_errors' => '0'];
        // A PHP that starts through a dynamic loader of its own does not know its own name.
        $command = [getenv('WEIGHBRIDGE_PHP') ?: PHP_BINARY, '-n'];
        foreach ($settings as $name => $value) {
            array_push($command, '-d', "$name=$value");
        }
        array_push($command, '-S', "127.0.0.1:$this->port", '-t', dirname(__DIR__) . '/pages');
        $quiet = ['file', '/dev/null', 'a'];
        $this->process = proc_open($command, [['file', '/dev/null', 'r'], $quiet, $quiet], $pipes);
        // None was asked for.
        array_map('fclose', $pipes);
        register_shutdown_function([$this, 'end']);
        $this->waitUntilItAnswers();
    }

    /** The file of the extension that this PHP has loaded, as it was given. */
    public static function extension(): string
    {
        $given = getenv('WEIGHBRIDGE_EXTENSION');
        return $given !== false && $given !== '' ? $given : throw new Failure('WEIGHBRIDGE_EXTENSION names no extension');
    }

    /** Asks for a page. @param array<string, string> $fields of the request */
    public function get(string $page, ?string $accept = 'gzip', string $method = 'GET', array $fields = []): Response
    {
        $socket = $this->ask($page, $accept, $method, $fields);
        $all = (string) stream_get_contents($socket);
        fclose($socket);
        [$head, $body] = explode("\r\n\r\n", $all, 2) + ['', ''];
        return new Response($head, $body);
    }

    /**
     * Asks for a page, and leaves the reading to the caller.
     * @param array<string, string> $fields
     * @return resource
     */
    public function ask(string $page, ?string $accept, string $method = 'GET', array $fields = [])
    {
        $socket = stream_socket_client("tcp://127.0.0.1:$this->port", timeout: 10);
        stream_set_timeout($socket, self::SECONDS);
        $request = "$method /$page HTTP/1.1\r\nHost: a\r\nConnection: close\r\n";
        $request .= $accept === null ? '' : "Accept-Encoding: $accept\r\n";
        foreach ($fields as $name => $value) {
            $request .= "$name: $value\r\n";
        }
        fwrite($socket, "$request\r\n");
        return $socket;
    }

    /** What PHP logged so far. */
    public function log(): string
    {
        return (string) file_get_contents($this->log);
    }

    public function end(): void
    {
        if (is_resource($this->process)) {
            proc_terminate($this->process);
            proc_close($this->process);
            unlink($this->log);
        }
    }

    private function waitUntilItAnswers(): void
    {
        $deadline = hrtime(true) + 20_000_000_000;
        while (hrtime(true) < $deadline) {
            $errors = error_reporting(0);
            $socket = stream_socket_client("tcp://127.0.0.1:$this->port", timeout: 1);
            error_reporting($errors);
            if ($socket !== false) {
                fclose($socket);
                return;
            }
            usleep(10_000);
        }
        throw new Failure('the server does not answer: ' . $this->log());
    }
}
