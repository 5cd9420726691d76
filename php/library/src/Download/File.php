<?php

declare(strict_types=1);

namespace Weighbridge\Library\Download;

/** @internal A regular file below a root, opened for reading. */
final class File
{
    /** Its absolute path, without symbolic links. */
    public string $path;
    /** Its path below the root, without a slash before it. */
    public string $below;
    /** In bytes. */
    public int $size;
    /** When it was last changed, in seconds since 1970. */
    public int $time;
    /** @var resource at its beginning */
    public $handle;

    /**
     * @param resource               $handle
     * @param array<int|string, int> $stat
     */
    private function __construct(string $path, string $below, $handle, array $stat)
    {
        [$this->path, $this->below, $this->handle] = [$path, $below, $handle];
        [$this->size, $this->time] = [$stat['size'], $stat['mtime']];
    }

    /**
     * The file at a path, absolute or relative to the root; null when there is none, it cannot be read, it is no regular
     * one, or it lies elsewhere, be it by `..` or by a symbolic link.
     */
    public static function open(string $root, string $path): ?self
    {
        $named = strncmp($path, '/', 1) === 0 ? $path : "$root/$path";
        // A scheme such as phar:// would be opened by a wrapper.
        $isForeign = preg_match('~\x00|^[a-z][a-z0-9+.-]*:~i', "$named\n$root") === 1;
        if ($isForeign || in_array('..', explode('/', $path), true)) {
            return null;
        }
        // PHP opens what its cache of paths says, and remembers where this one led. A pipe would wait for its writer: `n`.
        clearstatcache(true);
        $handle = @fopen($named, 'rbne');
        return $handle === false ? null : self::judge($handle, $root, $named);
    }

    /**
     * What was opened, where it is a regular file below the root. Where the system says where an opened file lies, the path
     * by which it was opened plays no part: somebody may change between two looks what that leads to.
     *
     * @param resource $handle
     */
    public static function judge($handle, string $root, string $path): ?self
    {
        clearstatcache(true);
        $opened = fstat($handle);
        $folder = realpath($root);
        // Of `st_mode`: the kind of file, and that of a regular one.
        if ($opened === false || $folder === false || ($opened['mode'] & 0170000) !== 0100000) {
            return null;
        }
        $folder = rtrim($folder, '/') . '/';
        $places = self::places($path, $opened);
        foreach ($places as $place) {
            // A line end would end the field by which a server is given the path.
            if (strncmp($place, $folder, strlen($folder)) !== 0 || strpbrk($place, "\r\n") !== false) {
                return null;
            }
        }
        return $places === [] ? null : new self($places[0], substr($places[0], strlen($folder)), $handle, $opened);
    }

    /**
     * Where an open file lies, by each name that this process has opened it by. Where the system does not say, the path
     * without symbolic links, if the file is there.
     *
     * @param array<int|string, int> $opened
     * @return list<string>
     */
    private static function places(string $path, array $opened): array
    {
        $node = [$opened['dev'], $opened['ino']];
        $isIt = static fn ($stat): bool => $stat !== false && [$stat['dev'], $stat['ino']] === $node;
        $places = [];
        foreach (@scandir('/proc/self/fd') ?: [] as $number) {
            $place = $isIt(@stat("/proc/self/fd/$number")) ? @readlink("/proc/self/fd/$number") : false;
            $places = $place === false ? $places : array_merge($places, [$place]);
        }
        $real = $places === [] ? realpath($path) : false;
        return $real !== false && $isIt(@lstat($real)) ? [$real] : $places;
    }

    /**
     * The field by which the web server is asked to send it; empty: PHP sends it.
     *
     * With the method `auto` the server's configuration decides, by the parameter WEIGHBRIDGE_SENDFILE, which no client
     * can set; and mod_xsendfile where PHP is a module of Apache.
     *
     * @param array{method: string, prefix: string|null, root: string|null} $settings
     * @param array<mixed>                                                  $server `$_SERVER`
     * @return array<string, string>
     */
    public function offload(array $settings, array $server): array
    {
        $isInApache = function_exists('apache_get_modules') && in_array('mod_xsendfile', apache_get_modules(), true);
        $offered = $server['WEIGHBRIDGE_SENDFILE'] ?? ($isInApache ? 'x-sendfile' : 'stream');
        $method = $settings['method'] === 'auto' ? strtolower((string) $offered) : $settings['method'];
        if ($method === 'x-accel-redirect' && $settings['prefix'] !== null) {
            $below = implode('/', array_map('rawurlencode', explode('/', $this->below)));
            return ['X-Accel-Redirect' => rtrim($settings['prefix'], '/') . "/$below"];
        }
        $name = ['x-sendfile' => 'X-Sendfile', 'x-lighttpd-send-file' => 'X-LIGHTTPD-send-file'][$method] ?? null;
        // lighttpd decodes percent signs in paths, mod_xsendfile as Debian packages it does not.
        $isLighttpd = stripos((string) ($server['SERVER_SOFTWARE'] ?? ''), 'lighttpd') === 0;
        $isDecoded = $method === 'x-lighttpd-send-file' || $isLighttpd;
        return $name === null ? [] : [$name => $isDecoded ? str_replace('%', '%25', $this->path) : $this->path];
    }

    /** Its ETag. One of a file that changed just now is weak: it may change again within the same second. */
    public function etag(int $now): string
    {
        return ($now - $this->time < 2 ? 'W/' : '') . sprintf('"%x-%x"', $this->time, $this->size);
    }
}
