<?php

declare(strict_types=1);

namespace Weighbridge\Library\Settings;

/** @internal How downloads are sent. */
final class Downloads
{
    /** The server that runs PHP decides: see `Download`. */
    public const AUTO = 'auto';
    /** nginx, Caddy: the server sends the file of an internal URL. */
    public const ACCEL = 'x-accel-redirect';
    /** Apache with mod_xsendfile, lighttpd: the server sends the file of a path. */
    public const SENDFILE = 'x-sendfile';
    /** lighttpd: the older name of the same. */
    public const LIGHTTPD = 'x-lighttpd-send-file';
    /** PHP sends the file itself. */
    public const STREAM = 'stream';

    /** One of the methods above. */
    public string $method;

    /** The internal URL below which the server finds the files, for `x-accel-redirect`. */
    public ?string $prefix;

    /** The folder that downloads must be in; null: each call names it. */
    public ?string $root;

    /** Reads the section `download`. */
    public function __construct(Shape $shape)
    {
        $methods = [self::AUTO, self::ACCEL, self::SENDFILE, self::LIGHTTPD, self::STREAM];
        $this->method = $shape->word('method', self::AUTO, $methods);
        $this->prefix = $shape->text('prefix');
        $this->root = $shape->text('root');
        $shape->close();
        if ($this->method === self::ACCEL && strncmp((string) $this->prefix, '/', 1) !== 0) {
            $path = $shape->path('prefix');
            throw new InvalidSettings("$path must be the path of an internal location, such as /internal/");
        }
        if (preg_match('~[\x00-\x20\x7f]~', (string) $this->prefix) === 1) {
            throw new InvalidSettings($shape->path('prefix') . ' holds white space or a control character');
        }
    }
}
