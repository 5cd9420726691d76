<?php

declare(strict_types=1);

namespace Weighbridge\Library\Settings;

/** @internal How downloads are sent. */
final class Downloads
{
    /** What sends the file: README.md says what each word is for. */
    public string $method;

    /** The internal URL below which the server finds the files, for `x-accel-redirect`. */
    public ?string $prefix;

    /** The folder that downloads must be in; null: each call names it. */
    public ?string $root;

    /** Reads the section `download`. */
    public function __construct(Shape $shape)
    {
        $methods = ['auto', 'x-accel-redirect', 'x-sendfile', 'x-lighttpd-send-file', 'stream'];
        $this->method = $shape->word('method', 'auto', $methods);
        $this->prefix = $shape->text('prefix');
        $this->root = $shape->text('root');
        $shape->close();
        if ($this->method === 'x-accel-redirect' && strncmp((string) $this->prefix, '/', 1) !== 0) {
            $path = $shape->path('prefix');
            throw new InvalidSettings("$path must be the path of an internal location, such as /internal/");
        }
        if (preg_match('~[\x00-\x20\x7f]~', (string) $this->prefix) === 1) {
            throw new InvalidSettings($shape->path('prefix') . ' holds white space or a control character');
        }
    }
}
