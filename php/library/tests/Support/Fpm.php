<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests\Support;

use RuntimeException;

/** PHP-FPM of the version that is tested, as Debian packages it, ended with this object. */
final class Fpm
{
    private string $folder;

    /** @var resource */
    private $process;

    public function __construct()
    {
        $program = '/usr/sbin/php-fpm' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION;
        if (!is_executable($program)) {
            Frameworks::skip("$program is not installed", true);
        }
        $this->folder = sys_get_temp_dir() . '/weighbridge-' . bin2hex(random_bytes(6));
        mkdir($this->folder);
        $pool = "[global]\ndaemonize = no\nerror_log = $this->folder/log\n"
            . "[www]\nlisten = $this->folder/socket\npm = static\npm.max_children = 1\n";
        file_put_contents("$this->folder/conf", $pool);
        $nowhere = ['file', '/dev/null', 'a'];
        $command = [$program, '-n', '-R', '-y', "$this->folder/conf"];
        $process = proc_open($command, [['file', '/dev/null', 'r'], $nowhere, $nowhere], $pipes);
        $answers = false;
        for ($i = 0; $process !== false && $i < 3000 && !$answers; $i++) {
            usleep(10000);
            // Its socket is there before it listens.
            $answers = @stream_socket_client("unix://$this->folder/socket") !== false;
        }
        if ($process === false || !$answers) {
            throw new RuntimeException('PHP-FPM does not start');
        }
        $this->process = $process;
    }

    public function __destruct()
    {
        if (isset($this->process)) {
            proc_terminate($this->process);
            proc_close($this->process);
            array_map('unlink', glob("$this->folder/*") ?: []);
            rmdir($this->folder);
        }
    }

    /** What it answers to a client that accepts gzip. */
    public function get(string $case): Response
    {
        $fields = '';
        $parameters = [
            'REQUEST_METHOD' => 'GET', 'SCRIPT_FILENAME' => dirname(__DIR__) . '/site/page.php',
            'HTTP_ACCEPT_ENCODING' => 'gzip', 'QUERY_STRING' => 'case=' . rawurlencode($case),
        ];
        foreach ($parameters as $name => $value) {
            $fields .= pack('NN', strlen($name) | 1 << 31, strlen($value) | 1 << 31) . $name . $value;
        }
        $socket = stream_socket_client("unix://$this->folder/socket");
        if ($socket === false) {
            throw new RuntimeException('PHP-FPM does not answer');
        }
        stream_set_timeout($socket, 20);
        // Four FastCGI records: the begin of a request, its parameters, the end of these, an empty body.
        foreach ([[1, pack('nCx5', 1, 0)], [4, $fields], [4, ''], [5, '']] as [$type, $content]) {
            fwrite($socket, pack('CCnnCx', 1, $type, 1, strlen($content), 0) . $content);
        }
        $answer = (string) stream_get_contents($socket);
        $http = fopen('php://memory', 'w+b');
        if ($http === false) {
            throw new RuntimeException('no memory');
        }
        fwrite($http, 'HTTP/1.1 200 OK' . "\r\n");
        for ($at = 0; $at < strlen($answer); $at += 8 + $record['length'] + $record['padding']) {
            $record = (array) unpack('Cversion/Ctype/nid/nlength/Cpadding', $answer, $at);
            // Its output.
            fwrite($http, $record['type'] === 6 ? substr($answer, $at + 8, $record['length']) : '');
        }
        rewind($http);
        return new Response($http);
    }
}
