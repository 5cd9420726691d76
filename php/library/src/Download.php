<?php

declare(strict_types=1);

namespace Weighbridge\Library;

use RuntimeException;
use Weighbridge\Library\Download\Disposition;
use Weighbridge\Library\Download\File;
use Weighbridge\Library\Download\Offload;
use Weighbridge\Library\Download\Reply;
use Weighbridge\Library\Download\Unavailable;

/**
 * Sends a file: by the web server where it offers that, else by PHP in pieces.
 *
 *     Download::send('/srv/files/report.pdf', ['root' => '/srv/files', 'name' => 'Übersicht.pdf']);
 *
 * With PHP: one range (RFC 9110, section 14), conditional requests, HEAD. A request for several ranges that do not join
 * is answered with the whole file, which the RFC allows. With the server, ranges and conditions are the server's.
 */
final class Download
{
    /** Bytes that are read and sent at once. */
    private const PIECE = 1 << 17;

    private const OPTIONS = ['root', 'name', 'type', 'inline', 'cache_control'];

    /**
     * Sends a file below a root, and ends all output buffers before.
     *
     * @param string               $path    absolute, or relative to the root
     * @param array<string, mixed> $options `root` (the settings' without it), `name` (that a browser saves it by; the
     *                                      file's own without it), `type` (its media type), `inline` (true: shown,
     *                                      false: saved), `cache_control`
     * @return int the status that was sent: 200, 206, 304, 404, 412, 416
     * @throws RuntimeException when output was sent already, or there is no root
     */
    public static function send(
        string $path,
        array $options = [],
        ?Settings $settings = null,
        ?Request $request = null
    ): int {
        self::check($options);
        $settings = ($settings ?? Settings::defaults())->download;
        $root = $options['root'] ?? $settings->root;
        if (!is_string($root)) {
            throw new RuntimeException('Download::send() needs a root, the folder that files must be in: [\'root\' => …]');
        }
        if (headers_sent($file, $line)) {
            throw new RuntimeException("Download::send() comes too late: output began at $file:$line");
        }
        self::endBuffers();
        $request = $request ?? Request::current();
        try {
            $download = File::below($root, $path);
        } catch (Unavailable $unavailable) {
            return self::answer(new Reply(404, ['Content-Type' => 'text/plain; charset=utf-8'], null), 'Not found.' . "\n");
        }
        $fields = self::fields($download, $options);
        $offload = Offload::of($settings, $_SERVER);
        if ($offload !== null) {
            return self::answer(new Reply(200, $fields + $offload->fields($download), null), '');
        }
        return self::stream($download, Reply::to($request, $download, $fields), $request->method === 'HEAD');
    }

    /** @param array<string, mixed> $options */
    private static function check(array $options): void
    {
        foreach (array_diff(array_keys($options), self::OPTIONS) as $unknown) {
            throw new RuntimeException("Download::send(): unknown option $unknown; known: " . implode(', ', self::OPTIONS));
        }
        foreach (['name', 'type', 'cache_control'] as $key) {
            $value = $options[$key] ?? '';
            if (!is_string($value) || ($key !== 'name' && preg_match('/[\x00-\x1f\x7f]/', $value) === 1)) {
                throw new RuntimeException("Download::send(): option $key must be a text of one line");
            }
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
        $type = $options['type'] ?? 'application/octet-stream';
        $name = $options['name'] ?? basename($file->path);
        $fields = [
            'Content-Type' => is_string($type) ? $type : '',
            'Content-Disposition' => Disposition::of(is_string($name) ? $name : '', ($options['inline'] ?? false) === true),
            'X-Content-Type-Options' => 'nosniff',
        ];
        $cache = $options['cache_control'] ?? null;
        return is_string($cache) ? $fields + ['Cache-Control' => $cache] : $fields;
    }

    private static function answer(Reply $reply, string $body): int
    {
        http_response_code($reply->status);
        foreach ($reply->fields as $name => $value) {
            header("$name: $value");
        }
        echo $body;
        return $reply->status;
    }

    private static function stream(File $file, Reply $reply, bool $isHead): int
    {
        $handle = $reply->range === null || $isHead ? null : fopen($file->path, 'rb');
        if ($handle === false) {
            return self::answer(new Reply(404, ['Content-Type' => 'text/plain; charset=utf-8'], null), 'Not found.' . "\n");
        }
        self::answer($reply, '');
        if ($handle === null || $reply->range === null) {
            return $reply->status;
        }
        [$from, $length] = $reply->range;
        fseek($handle, $from);
        while ($length > 0 && connection_aborted() === 0) {
            $piece = fread($handle, min(self::PIECE, $length));
            if ($piece === false || $piece === '') {
                // The file became shorter; the client sees it from the length.
                break;
            }
            echo $piece;
            flush();
            $length -= strlen($piece);
        }
        fclose($handle);
        return $reply->status;
    }

    /** Drops what was printed before, and keeps PHP and Apache from encoding what follows. */
    private static function endBuffers(): void
    {
        for ($level = ob_get_level(); $level > 0; $level--) {
            ob_end_clean();
        }
        ini_set('zlib.output_compression', '0');
        header_remove('Content-Encoding');
        header_remove('Content-Length');
        if (function_exists('apache_setenv')) {
            apache_setenv('no-gzip', '1');
        }
    }
}
