<?php

declare(strict_types=1);

namespace Weighbridge\Library;

use Weighbridge\Library\Download\Disposition;
use Weighbridge\Library\Download\File;
use Weighbridge\Library\Download\Offload;
use Weighbridge\Library\Download\Preconditions;

/**
 * The response that sends a file: its status, its header fields, and its content, which the web server sends where it
 * offers that, else PHP in pieces. Without a framework:
 *
 *     Download::send('/srv/files/report.pdf', ['root' => '/srv/files', 'name' => 'Übersicht.pdf']);
 *
 * With one, `Symfony\DownloadResponse` and `Psr7\DownloadBody` make a response of it. With PHP: one range (RFC 9110,
 * section 14), conditional requests, HEAD; a request for several ranges is answered with the whole file, which the RFC
 * allows. With the server, ranges and conditions are the server's.
 */
final class Download
{
    /** Bytes that are read and sent at once. */
    private const PIECE = 1 << 17;

    private const OPTIONS = ['root', 'name', 'type', 'inline', 'cache_control'];

    /** 200, 206, 304, 404, 412 or 416. */
    public int $status;

    /** @var array<string, string> header fields by name */
    public array $fields;

    /** @var resource|null what the content is read from; null: there is none, or it is not PHP that sends it */
    private $handle;

    /** Bytes of the content that were not read yet. */
    private int $left;

    /**
     * @param array<string, string> $fields
     * @param resource|null         $handle
     */
    private function __construct(int $status, array $fields, $handle = null, int $length = 0)
    {
        $this->status = $status;
        $this->fields = $fields;
        $this->handle = $handle;
        $this->left = $length;
    }

    /**
     * The response to a request for a file below a root.
     *
     * @param string               $path    absolute, or relative to the root
     * @param array<string, mixed> $options `root` (the settings' without it), `name` (that a browser saves it by; the
     *                                      file's own without it), `type` (its media type), `inline` (true: shown,
     *                                      false: saved), `cache_control`
     * @param Request|null         $request null: the one that PHP runs for
     * @throws DownloadFailure when an option is wrong, or there is no root
     */
    public static function prepare(
        string $path,
        array $options = [],
        ?Settings $settings = null,
        ?Request $request = null
    ): self {
        self::check($options);
        $settings = ($settings ?? Settings::defaults())->download;
        $root = $options['root'] ?? $settings->root;
        if (!is_string($root) || $root === '') {
            throw new DownloadFailure('Download: it needs a root, the folder that files must be in: [\'root\' => …]');
        }
        $file = File::open($root, $path);
        $request = $request ?? Request::current();
        if ($file === null) {
            return self::notFound($request);
        }
        $fields = self::fields($file, $options);
        $offload = Offload::fields($settings, $_SERVER, $file);
        return $offload === [] ? self::respond($request, $file, $fields) : new self(200, $fields + $offload);
    }

    /**
     * Sends a file below a root, and ends the session and all output buffers before. The parameters are those of
     * `prepare()`.
     *
     * @param array<string, mixed> $options
     * @return int the status that was sent
     * @throws DownloadFailure when output was sent already, an option is wrong, or there is no root
     */
    public static function send(
        string $path,
        array $options = [],
        ?Settings $settings = null,
        ?Request $request = null
    ): int {
        if (headers_sent($file, $line)) {
            throw new DownloadFailure("Download::send() comes too late: output began at $file:$line");
        }
        $download = self::prepare($path, $options, $settings, $request);
        $download->sendFields();
        $download->output();
        return $download->status;
    }

    /** Prints the content in pieces. It can be read once. */
    public function output(): void
    {
        while (connection_aborted() === 0 && ($piece = $this->read(self::PIECE)) !== '') {
            echo $piece;
            flush();
        }
    }

    /** At most this many bytes of the content; empty at its end, which comes early where the file became shorter. */
    public function read(int $bytes): string
    {
        // The visitor's other requests need not wait for this one to end.
        if (session_status() === PHP_SESSION_ACTIVE) {
            session_write_close();
        }
        if ($this->handle === null || $this->left === 0) {
            return '';
        }
        $piece = (string) fread($this->handle, max(1, min($bytes, $this->left)));
        $this->left = $piece === '' ? 0 : $this->left - strlen($piece);
        return $piece;
    }

    /** Whether all of the content was read. */
    public function isRead(): bool
    {
        return $this->left === 0;
    }

    /** @param array<string, mixed> $options */
    private static function check(array $options): void
    {
        foreach (array_diff(array_keys($options), self::OPTIONS) as $unknown) {
            throw new DownloadFailure("Download: unknown option $unknown; known: " . implode(', ', self::OPTIONS));
        }
        foreach (['name', 'type', 'cache_control'] as $key) {
            $value = $options[$key] ?? '';
            if (!is_string($value) || ($key !== 'name' && preg_match('/[\x00-\x1f\x7f]/', $value) === 1)) {
                throw new DownloadFailure("Download: option $key must be a text of one line");
            }
        }
        if (!is_bool($options['inline'] ?? false)) {
            throw new DownloadFailure('Download: option inline must be true or false');
        }
    }

    /**
     * The fields that do not depend on who sends the file.
     *
     * @param array<string, mixed> $options
     * @return array<string, string>
     */
    private static function fields(File $file, array $options): array
    {
        ['type' => $type, 'name' => $name, 'cache_control' => $cache, 'inline' => $isInline] = $options + [
            'type' => 'application/octet-stream', 'name' => basename($file->path), 'cache_control' => '', 'inline' => false,
        ];
        $fields = [
            'Content-Type' => (string) $type,
            'Content-Disposition' => Disposition::value((string) $name, $isInline),
            'X-Content-Type-Options' => 'nosniff',
        ];
        return (string) $cache === '' ? $fields : $fields + ['Cache-Control' => (string) $cache];
    }

    /**
     * The response by the request's preconditions and range, in the order of RFC 9110, section 13.2.2.
     *
     * @param array<string, string> $fields those of a whole response
     */
    private static function respond(Request $request, File $file, array $fields): self
    {
        $conditions = new Preconditions($request, $file, time());
        $status = $conditions->status();
        if ($status === 412) {
            return new self(412, $conditions->validators());
        }
        // A cache takes the fields of a 304 for those of what it has: it gets those of the 200.
        $fields += $conditions->validators();
        if ($status === 304) {
            return new self(304, $fields);
        }
        $fields['Accept-Ranges'] = 'bytes';
        $range = $conditions->range();
        [$from, $length] = $range ?? [0, $file->size];
        if ($range !== null && $length === 0) {
            unset($fields['Content-Disposition']);
            return new self(416, ['Content-Range' => "bytes */{$file->size}", 'Content-Length' => '0'] + $fields);
        }
        if ($range !== null) {
            $status = 206;
            $fields['Content-Range'] = "bytes $from-" . ($from + $length - 1) . "/{$file->size}";
        }
        $fields['Content-Length'] = (string) $length;
        fseek($file->handle, $from);
        return new self($status, $fields, $file->handle, $request->method === 'HEAD' ? 0 : $length);
    }

    private static function notFound(Request $request): self
    {
        $text = "Not found.\n";
        $handle = fopen('php://memory', 'w+b');
        if ($handle !== false) {
            fwrite($handle, $text);
            rewind($handle);
        }
        $fields = ['Content-Type' => 'text/plain; charset=utf-8', 'Content-Length' => (string) strlen($text)];
        return new self(404, $fields, $handle ?: null, $request->method === 'HEAD' ? 0 : strlen($text));
    }

    /** Drops what was printed before, keeps PHP and Apache from encoding what follows, and says what follows. */
    private function sendFields(): void
    {
        for ($level = ob_get_level(); $level > 0; $level--) {
            ob_end_clean();
        }
        ini_set('zlib.output_compression', '0');
        if (function_exists('apache_setenv')) {
            apache_setenv('no-gzip', '1');
        }
        // What a session says about caching is in three fields.
        $replaced = isset($this->fields['Cache-Control']) ? ['Expires', 'Pragma'] : [];
        foreach (['Content-Encoding', 'Content-Length', ...$replaced] as $name) {
            header_remove($name);
        }
        http_response_code($this->status);
        foreach ($this->fields as $name => $value) {
            header("$name: $value");
        }
    }
}
