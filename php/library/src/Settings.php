<?php

declare(strict_types=1);

namespace Weighbridge\Library;

use Throwable;
use Weighbridge\Library\Settings\Downloads;
use Weighbridge\Library\Settings\InvalidSettings;
use Weighbridge\Library\Settings\Pages;
use Weighbridge\Library\Settings\Shape;
use Weighbridge\Library\Settings\Values;

/**
 * What to do with pages, cached values and downloads: a PHP array that a policy was compiled to, or safe defaults.
 *
 * A section that the array lacks has its defaults. README.md describes the array.
 */
final class Settings
{
    /** The version of the array that this library reads. */
    public const SCHEMA = 1;

    /** How pages are encoded. */
    public Pages $page;

    /** How cached values are stored. */
    public Values $value;

    /** How downloads are sent. */
    public Downloads $download;

    private function __construct(Shape $shape)
    {
        $schema = $shape->integer('schema', self::SCHEMA, 0, PHP_INT_MAX);
        if ($schema !== self::SCHEMA) {
            throw new InvalidSettings("schema is $schema; this version of the library reads " . self::SCHEMA);
        }
        $this->page = new Pages($shape->shape('page'));
        $this->value = new Values($shape->shape('value'));
        $this->download = new Downloads($shape->shape('download'));
        $shape->close();
    }

    /** What holds where no policy says otherwise. */
    public static function defaults(): self
    {
        return new self(new Shape([], ''));
    }

    /**
     * @param array<mixed> $settings
     * @throws InvalidSettings when a key is unknown or a value has the wrong type
     */
    public static function fromArray(array $settings): self
    {
        return new self(new Shape($settings, ''));
    }

    /**
     * What the file says, or the defaults where there is no file.
     *
     * @throws InvalidSettings when there is one that cannot be used
     */
    public static function load(?string $path): self
    {
        return $path === null || !file_exists($path) ? self::defaults() : self::fromFile($path);
    }

    /**
     * Reads a file that returns the array; opcache keeps it.
     *
     * @throws InvalidSettings when the file cannot be read, or what it returns is not such an array
     */
    public static function fromFile(string $path): self
    {
        if (!is_file($path) || !is_readable($path)) {
            throw new InvalidSettings("$path: no such file, or it cannot be read; write it from the policy or leave it out");
        }
        try {
            $settings = (static function (string $path) {
                return require $path;
            })($path);
        } catch (Throwable $error) {
            throw new InvalidSettings("$path:{$error->getLine()}: " . $error->getMessage(), 0, $error);
        }
        if (!is_array($settings)) {
            $type = gettype($settings);
            throw new InvalidSettings("$path returns $type, expected an array: return ['schema' => 1, …];");
        }
        try {
            return self::fromArray($settings);
        } catch (InvalidSettings $invalid) {
            throw new InvalidSettings("$path: " . $invalid->getMessage());
        }
    }
}
