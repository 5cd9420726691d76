<?php
namespace Weighbridge;

/** One content to send: a file of the folder that the environment names as WEIGH_CONTENTS. */
final class Content
{
    public $name;
    /** Path of the file. */
    public $path;
    /** Length in bytes. */
    public $bytes;

    private static $types = array(
        'html' => 'text/html; charset=utf-8',
        'htm' => 'text/html; charset=utf-8',
        'txt' => 'text/plain; charset=utf-8',
        'css' => 'text/css',
        'js' => 'text/javascript',
        'json' => 'application/json',
        'xml' => 'application/xml',
        'svg' => 'image/svg+xml',
        'jpg' => 'image/jpeg',
        'jpeg' => 'image/jpeg',
        'png' => 'image/png',
        'gif' => 'image/gif',
        'webp' => 'image/webp',
        'woff2' => 'font/woff2',
        'pdf' => 'application/pdf',
        'zip' => 'application/zip',
    );

    /**
     * @param string $name a plain file name
     * @throws Fault when it is not one, or the folder has no such file
     */
    public function __construct($name)
    {
        if (!preg_match('~^[^./\\\\\x00-\x1f\x7f][^/\\\\\x00-\x1f\x7f]{0,254}$~D', $name)) {
            throw new Fault('parameter', '`content` must be a plain file name that does not begin with a dot');
        }
        $folder = getenv('WEIGH_CONTENTS');
        if (!is_string($folder) || !is_dir($folder)) {
            $message = 'the environment has no WEIGH_CONTENTS that names a folder';
            throw new Fault('missing', $message, 'set env[WEIGH_CONTENTS] in the PHP-FPM pool');
        }
        $this->name = $name;
        $this->path = "$folder/$name";
        if (!is_file($this->path)) {
            throw new Fault('parameter', "there is no content `$name`");
        }
        $this->bytes = filesize($this->path);
    }

    /** @return string its media type, by the ending of its name */
    public function type()
    {
        $ending = strtolower(pathinfo($this->name, PATHINFO_EXTENSION));
        return isset(self::$types[$ending]) ? self::$types[$ending] : 'application/octet-stream';
    }

    /** @return string|null the path of the variant that lies beside it as `NAME.$ending`, null without one */
    public function variant($ending)
    {
        return is_file("{$this->path}.$ending") ? "{$this->path}.$ending" : null;
    }

    /** @return string all of it */
    public function read()
    {
        return file_get_contents($this->path);
    }
}
