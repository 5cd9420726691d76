<?php

declare(strict_types=1);

namespace Weighbridge\Library;

use Weighbridge\Library\Download\File;
use Weighbridge\Library\Download\Preconditions;
use Weighbridge\Library\Settings\InvalidSettings;
use Weighbridge\Library\Settings\Shape;

/**
 * The response that sends a file: its status, its header fields, and its content, which the web server sends where it
 * offers that, else PHP in pieces. Without a framework:
 *
 *     Download::send('/srv/files/report.pdf', ['root' => '/srv/files', 'name' => 'Übersicht.pdf']);
 *
 * With one, `Symfony\DownloadResponse` and `Psr7\DownloadResponse` make a response of it. With PHP: one range (RFC 9110,
 * section 14), conditional requests, HEAD; a request for several ranges is answered with the whole file, which the RFC
 * allows. With the server, ranges and conditions are the server's.
 */
final class Download
{
    /** Bytes that are read and sent at once. */
    private const PIECE = 1 << 17;

    /** 200, 206, 304, 404, 412 or 416. */
    public int $status;

    /** @var array<string, string> header fields by name */
    public array $fields;

    /** @var resource|null what the content is read from; null: there is none, or it is not PHP that sends it */
    public $handle;

    /** Bytes of the content that were not read yet. */
    private int $left;

    /**
     * @param array<string, string> $fields
     * @param resource|null         $handle
     */
    private function __construct(int $status, array $fields, $handle = null, int $length = 0)
    {
        [$this->status, $this->fields, $this->handle, $this->left] = [$status, $fields, $handle, $length];
    }

    /**
     * The response to a request for a file below a root.
     *
     * @param string               $path    absolute, or relative to the root
     * @param array<string, mixed> $options `root` (the settings' without it), `name` (that a browser saves it by; the
     *                                      file's own without it), `type` (its media type), `inline` (true: shown,
     *                                      false: saved), `cache_control`
     * @param Request|null         $request null: the one that PHP runs for
     * @throws InvalidSettings when an option is wrong, or there is no root
     */
    public static function prepare(
        string $path,
        array $options = [],
        ?Settings $settings = null,
        ?Request $request = null
    ): self {
        [$settings, $request] = [($settings ?? Settings::defaults())->download, $request ?? Request::current()];
        $isLine = static fn ($value): bool => is_string($value) && preg_match('/[\x00-\x1f\x7f]/', $value) === 0;
        $isPath = static fn ($value): bool => $value !== '' && is_string($value);
        $shape = new Shape($options, 'Download: option ');
        $root = $shape->take('root', $settings['root'] ?? '', 'the folder that files must be in', $isPath);
        $name = $shape->text('name');
        $type = $shape->take('type', 'application/octet-stream', 'a text of one line', $isLine);
        $isInline = $shape->take('inline', false, 'true or false', 'is_bool');
        $cache = $shape->take('cache_control', '', 'a text of one line', $isLine);
        $shape->close();
        $file = File::open($root, $path);
        if ($file === null) {
            return self::notFound($request);
        }
        $fields = [
            'Content-Type' => $type,
            'Content-Disposition' => self::disposition($name ?? basename($file->path), $isInline),
            'X-Content-Type-Options' => 'nosniff',
        ] + ($cache === '' ? [] : ['Cache-Control' => $cache]);
        $offload = $file->offload($settings, $_SERVER);
        return $offload === [] ? self::respond($request, $file, $fields) : new self(200, $fields + $offload);
    }

    /**
     * Sends a file below a root, and ends the session and all output buffers before. The parameters are those of
     * `prepare()`.
     *
     * @param array<string, mixed> $options
     * @return int the status that was sent
     * @throws InvalidSettings when output was sent already, an option is wrong, or there is no root
     */
    public static function send(string $path, array $options = [], ?Settings $settings = null, ?Request $request = null): int
    {
        if (headers_sent($file, $line)) {
            throw new InvalidSettings("Download::send() comes too late: output began at $file:$line");
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
        $size = min($bytes, $this->left);
        $piece = $this->handle === null || $size <= 0 ? '' : (string) fread($this->handle, $size);
        $this->left = $piece === '' ? 0 : $this->left - strlen($piece);
        return $piece;
    }

    /**
     * @internal The value of Content-Disposition (RFC 6266) for a name of any language (RFC 8187), which loses its folders,
     * control characters and what is not UTF-8.
     */
    public static function disposition(string $name, bool $isInline): string
    {
        $kind = $isInline ? 'inline' : 'attachment';
        if (preg_match('//u', $name) !== 1) {
            $name = (string) preg_replace('/[^\x20-\x7e]/', '_', $name);
        }
        $name = (string) preg_replace(['/[\x00-\x1f\x7f]|\xc2[\x80-\x9f]/', '~^.*[/\\\\]~s'], '', $name);
        if (strlen($name) > 255) {
            // File systems have no longer ones.
            $name = (string) preg_replace('/[\xc0-\xff]?[\x80-\xbf]*$/D', '', substr($name, 0, 255));
        }
        if (in_array($name, ['', '.', '..'], true)) {
            return $kind;
        }
        // Browsers decode percent signs in the plain form, too.
        $plain = (string) preg_replace('/[^\x20-\x7e]|%/u', '_', $name);
        $value = "$kind; filename=\"" . addcslashes($plain, '"\\') . '"';
        return $plain === $name ? $value : "$value; filename*=UTF-8''" . rawurlencode($name);
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
        // A cache takes the fields of a 304 for those of what it has: it gets those of the 200.
        $fields = ($status === 412 ? [] : $fields) + $conditions->validators();
        if ($status !== 200) {
            return new self($status, $fields);
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
        $text = $request->method === 'HEAD' ? '' : "Not found.\n";
        $handle = fopen('php://memory', 'w+b') ?: null;
        if ($handle !== null) {
            fwrite($handle, $text);
            rewind($handle);
        }
        return new self(404, ['Content-Type' => 'text/plain; charset=utf-8'], $handle, strlen($text));
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
        array_map('header_remove', ['Content-Encoding', 'Content-Length', ...$replaced]);
        http_response_code($this->status);
        foreach ($this->fields as $name => $value) {
            header("$name: $value");
        }
    }
}
