<?php

declare(strict_types=1);

namespace Weighbridge\Library\Download;

/** @internal A regular file below a root, opened for reading. */
final class File
{
    /** Of `st_mode`: the kind of file, and that of a regular one. */
    private const KIND = 0170000;
    private const REGULAR = 0100000;

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
        $this->path = $path;
        $this->below = $below;
        $this->handle = $handle;
        $this->size = $stat['size'];
        $this->time = $stat['mtime'];
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
        if ($opened === false || $folder === false || ($opened['mode'] & self::KIND) !== self::REGULAR) {
            return null;
        }
        $folder = rtrim($folder, '/') . '/';
        $places = self::placesOf($opened) ?: self::placeAt($path, $opened);
        foreach ($places as $place) {
            // A line end would end the field by which a server is given the path.
            if (strncmp($place, $folder, strlen($folder)) !== 0 || strpbrk($place, "\r\n") !== false) {
                return null;
            }
        }
        return $places === [] ? null : new self($places[0], substr($places[0], strlen($folder)), $handle, $opened);
    }

    /**
     * Where an open file lies, by each name that this process has opened it by; empty where the system does not say.
     *
     * @param array<int|string, int> $opened
     * @return list<string>
     */
    private static function placesOf(array $opened): array
    {
        $places = [];
        foreach (@scandir('/proc/self/fd') ?: [] as $number) {
            $link = "/proc/self/fd/$number";
            $place = self::isSame($opened, @stat($link)) ? @readlink($link) : false;
            if ($place !== false) {
                $places[] = $place;
            }
        }
        return $places;
    }

    /**
     * The path without symbolic links, where the open file is there.
     *
     * @param array<int|string, int> $opened
     * @return list<string>
     */
    private static function placeAt(string $path, array $opened): array
    {
        $real = realpath($path);
        return $real !== false && self::isSame($opened, @lstat($real)) ? [$real] : [];
    }

    /**
     * @param array<int|string, int>       $one
     * @param array<int|string, int>|false $other
     */
    private static function isSame(array $one, $other): bool
    {
        return $other !== false && [$one['dev'], $one['ino']] === [$other['dev'], $other['ino']];
    }

    /** Its ETag. One of a file that changed just now is weak: it may change again within the same second. */
    public function etag(int $now): string
    {
        $tag = sprintf('"%x-%x"', $this->time, $this->size);
        return $now - $this->time < 2 ? "W/$tag" : $tag;
    }
}
