<?php

declare(strict_types=1);

/** PHP-FPM with the extension, over the scripts in `pages`. */
final class Fpm
{
    /** @var resource */
    private $process;
    private readonly string $folder;

    /** @param array<string, string> $settings beside the extension itself, which is not loaded if it is '' */
    public function __construct(array $settings = [])
    {
        $program = getenv('WEIGHBRIDGE_FPM') ?: sprintf('/usr/sbin/php-fpm%d.%d', PHP_MAJOR_VERSION, PHP_MINOR_VERSION);
        if (!is_executable($program)) {
            throw new Skip("$program was not found; install it, or name it by WEIGHBRIDGE_FPM");
        }
        $this->folder = sys_get_temp_dir() . '/weighbridge-fpm-' . bin2hex(random_bytes(6));
        mkdir($this->folder);
        $pool = "[global]\ndaemonize = no\nerror_log = $this->folder/log\n[www]\nlisten = $this->folder/socket\npm = static\npm.max_children = 1\n";
        file_put_contents("$this->folder/conf", $pool);
        $command = [$program, '-n', '-R', '-y', "$this->folder/conf"];
        $settings += ['extension' => Site::extension(), 'error_log' => "$this->folder/errors", 'display_errors' => '0'];
        foreach (array_filter($settings, fn(string $value, string $name) => $name !== 'extension' || $value !== '', ARRAY_FILTER_USE_BOTH) as $name => $value) {
            array_push($command, '-d', "$name=$value");
        }
        $quiet = ['file', '/dev/null', 'a'];
        $this->process = proc_open($command, [['file', '/dev/null', 'r'], $quiet, $quiet], $pipes);
        // None was asked for.
        array_map('fclose', $pipes);
        register_shutdown_function([$this, 'end']);
        for ($i = 0; !file_exists("$this->folder/socket"); ++$i) {
            if ($i === 1000) {
                throw new Failure('FPM does not start: ' . $this->log());
            }
            usleep(10_000);
        }
    }

    /** Asks for a page, as the words of `do`. @param array<string, string> $fields of the request */
    public function get(string $do, ?string $accept = 'gzip', array $fields = [], array $query = [], string $script = 'page.php', array $server = []): Response
    {
        $fields += $accept === null ? [] : ['Accept-Encoding' => $accept];
        $script = dirname(__DIR__) . "/pages/$script";
        $all = FastCgi::get("$this->folder/socket", $script, ['do' => $do] + $query, $fields, $server);
        [$head, $body] = explode("\r\n\r\n", $all, 2) + [1 => ""];
        $status = preg_match('/^Status: (\d+)/mi', $head, $match) === 1 ? $match[1] : '200';
        return new Response("HTTP/1.1 $status\r\n$head", $body);
    }

    /** The CPU time of the one worker, in microseconds. */
    public function cpu(): float
    {
        $master = proc_get_status($this->process)['pid'];
        $worker = (int) file_get_contents("/proc/$master/task/$master/children");
        return (float) file_get_contents("/proc/$worker/schedstat") / 1000;
    }

    /** What PHP and FPM logged so far. */
    public function log(): string
    {
        return implode(array_map('file_get_contents', array_filter(["$this->folder/log", "$this->folder/errors"], 'is_file')));
    }

    public function end(): void
    {
        if (is_resource($this->process)) {
            proc_terminate($this->process);
            proc_close($this->process);
            array_map('unlink', glob("$this->folder/*"));
            rmdir($this->folder);
        }
    }
}
