<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests\Support;

use RuntimeException;

/** PHP's own server for a folder, on a free port of loopback, ended with this object. */
final class Server
{
    /** Where it listens. */
    public string $address;

    /** @var resource */
    private $process;

    private string $log;

    /** @param array<string, string> $settings of php.ini */
    public function __construct(array $settings = [], string $folder = __DIR__ . '/../site')
    {
        $this->address = self::freeAddress();
        $this->log = (string) tempnam(sys_get_temp_dir(), 'weighbridge');
        $command = self::php();
        foreach ($settings + ['ffi.enable' => '1', 'display_errors' => '0', 'opcache.enable' => '0'] as $name => $value) {
            array_push($command, '-d', "$name=$value");
        }
        array_push($command, '-S', $this->address, '-t', $folder);
        $log = ['file', $this->log, 'a'];
        $process = proc_open($command, [['file', '/dev/null', 'r'], $log, $log], $pipes);
        if (!is_resource($process)) {
            throw new RuntimeException('PHP\'s server cannot be started');
        }
        $this->process = $process;
        for ($i = 0; $i < 200; $i++) {
            $socket = @stream_socket_client("tcp://{$this->address}", $code, $message, 1);
            if ($socket !== false) {
                return;
            }
            usleep(50000);
        }
        throw new RuntimeException('PHP\'s server does not answer: ' . $this->log());
    }

    public function __destruct()
    {
        proc_terminate($this->process, 9);
        proc_close($this->process);
        unlink($this->log);
    }

    /** What it wrote to its log. */
    public function log(): string
    {
        return (string) file_get_contents($this->log);
    }

    /**
     * @param array<string, string>        $fields of the request
     * @param (callable(string): void)|null $seen  is given the body as far as it came
     */
    public function get(string $target, array $fields = [], string $method = 'GET', ?callable $seen = null): Response
    {
        $request = "$method $target HTTP/1.1\r\nHost: {$this->address}\r\nConnection: close\r\n";
        foreach ($fields as $name => $value) {
            $request .= "$name: $value\r\n";
        }
        $socket = stream_socket_client("tcp://{$this->address}", $code, $message, 10);
        if ($socket === false) {
            throw new RuntimeException($message . $this->log());
        }
        stream_set_timeout($socket, 20);
        fwrite($socket, "$request\r\n");
        return new Response($socket, $seen);
    }

    /**
     * The command of the PHP that is tested.
     *
     * @return list<string>
     */
    public static function php(): array
    {
        $command = json_decode((string) getenv('WEIGHBRIDGE_PHP'), true);
        return is_array($command) ? $command : [PHP_BINARY];
    }

    /** A port of loopback that nothing listens on. */
    public static function freeAddress(): string
    {
        $socket = stream_socket_server('tcp://127.0.0.1:0');
        if ($socket === false) {
            throw new RuntimeException('no port is free');
        }
        $address = (string) stream_socket_get_name($socket, false);
        fclose($socket);
        return $address;
    }
}
