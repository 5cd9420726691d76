<?php

declare(strict_types=1);

namespace Weighbridge\Library\Download;

/** A regular file below a root, with what names its content. */
final class File
{
    /** Its absolute path, without symbolic links. */
    public string $path;

    /** Its path below the root, without a slash before it. */
    public string $below;

    /** In bytes. */
    public int $size;

    /** When it was last changed. */
    public int $time;

    private function __construct(string $path, string $below, int $size, int $time)
    {
        $this->path = $path;
        $this->below = $below;
        $this->size = $size;
        $this->time = $time;
    }

    /**
     * The file at a path, absolute or relative to the root.
     *
     * @throws Unavailable when it is none, cannot be read, or lies elsewhere, be it by `..` or by a symbolic link
     */
    public static function below(string $root, string $path): self
    {
        if (strpos($root . $path, "\0") !== false || in_array('..', explode('/', $path), true)) {
            throw new Unavailable('a path must not hold .. or NUL');
        }
        // A scheme such as phar:// would be opened by a wrapper.
        if (preg_match('~^[a-z][a-z0-9+.-]*://~i', $path) === 1) {
            throw new Unavailable('a path must be one of the file system');
        }
        $folder = rtrim((string) realpath($root), '/') . '/';
        $real = (string) realpath(strncmp($path, '/', 1) === 0 ? $path : $folder . $path);
        if (realpath($root) === false || strncmp($real, $folder, strlen($folder)) !== 0) {
            throw new Unavailable('no such file below the root');
        }
        // A line end would end the field by which a server is told of it.
        if (!is_file($real) || !is_readable($real) || preg_match('/[\r\n]/', $real) === 1) {
            throw new Unavailable('not a regular file, or it cannot be read');
        }
        return new self($real, substr($real, strlen($folder)), (int) filesize($real), (int) filemtime($real));
    }

    /**
     * Its ETag. One of a file that changed just now is weak: it may change again within the same second.
     */
    public function etag(int $now): string
    {
        $tag = sprintf('"%x-%x"', $this->time, $this->size);
        return $now - $this->time < 2 ? "W/$tag" : $tag;
    }
}
