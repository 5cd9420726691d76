<?php
/** A private folder for files of the tests. */
final class Folder
{
    private $path;
    private $count = 0;

    public function __construct()
    {
        $this->path = sys_get_temp_dir() . '/weigh-php-tests-' . getmypid();
        mkdir($this->path, 0700);
    }

    /** @return string path of a new file with this content */
    public function file($content)
    {
        $path = $this->name();
        file_put_contents($path, $content);
        return $path;
    }

    /** @return string a path at which nothing is yet */
    public function name()
    {
        return $this->path . '/' . ++$this->count;
    }

    /** @return string path of a copy of a folder */
    public function copyOf($source)
    {
        $target = $this->name();
        self::copyTree($source, $target);
        return $target;
    }

    public function remove()
    {
        self::removeTree($this->path);
    }

    private static function copyTree($source, $target)
    {
        mkdir($target);
        foreach (array_diff(scandir($source), array('.', '..')) as $name) {
            if (is_dir("$source/$name")) {
                self::copyTree("$source/$name", "$target/$name");
            } else {
                copy("$source/$name", "$target/$name");
            }
        }
    }

    private static function removeTree($path)
    {
        foreach (array_diff(scandir($path), array('.', '..')) as $name) {
            is_dir("$path/$name") ? self::removeTree("$path/$name") : unlink("$path/$name");
        }
        rmdir($path);
    }
}
