<?php

declare(strict_types=1);

namespace Weighbridge\Library;

use Throwable;
use Weighbridge\Library\Settings\InvalidSettings;
use Weighbridge\Library\Settings\Rule;
use Weighbridge\Library\Settings\Shape;

/**
 * What to do with pages, cached values and downloads: a PHP array that a policy was compiled to, or safe defaults.
 *
 * A section that the array lacks has its defaults. README.md describes the array.
 */
final class Settings
{
    /** @var array{rules: list<Rule>, breach: string} the preferred rule first; none: pages are sent as they are */
    public array $page;

    /** @var array{codec: string, level: int, minBytes: int, serializer: string, dictionaries: list<string>, isDefault: bool} */
    public array $value;

    /** @var array{method: string, prefix: string|null, root: string|null} */
    public array $download;

    /** @param array<mixed> $settings */
    private function __construct(array $settings)
    {
        $shape = new Shape($settings);
        $shape->integer('schema', 1, 1, 1);
        $page = $shape->shape('page');
        $rules = array_map([Rule::class, 'read'], $page->shapes('rules'));
        $this->page = [
            'rules' => $page->has('rules') ? $rules : Rule::defaults(),
            'breach' => $page->word('breach', 'cross-site', ['cross-site', 'cookies', 'off']),
        ];
        $this->value = self::value($shape->shape('value'));
        $this->download = self::download($shape->shape('download'));
        $page->close();
        $shape->close();
    }

    /** What holds where no policy says otherwise. */
    public static function defaults(): self
    {
        return new self([]);
    }

    /**
     * @param array<mixed> $settings
     * @throws InvalidSettings when a key is unknown or a value has the wrong type
     */
    public static function fromArray(array $settings): self
    {
        return new self($settings);
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
            $settings = (static fn (string $path) => require $path)($path);
            if (!is_array($settings)) {
                throw new InvalidSettings('it returns ' . gettype($settings) . ', expected an array, as in README.md');
            }
            return new self($settings);
        } catch (InvalidSettings $invalid) {
            throw new InvalidSettings("$path: " . $invalid->getMessage());
        } catch (Throwable $error) {
            throw new InvalidSettings("$path:{$error->getLine()}: " . $error->getMessage(), 0, $error);
        }
    }

    /** @return array{codec: string, level: int, minBytes: int, serializer: string, dictionaries: list<string>, isDefault: bool} */
    private static function value(Shape $shape): array
    {
        $dictionaries = $shape->texts('dictionary');
        // What every server API of this PHP reads, without FFI.
        $default = $dictionaries !== [] ? 'zstd' : (extension_loaded('zlib') ? 'deflate' : 'identity');
        $isDefault = !$shape->has('codec') && $dictionaries === [];
        $codec = $shape->word('codec', $default, ['deflate', 'gzip', 'zstd', 'br', 'identity']);
        if ($dictionaries !== [] && $codec !== 'zstd') {
            throw new InvalidSettings("value.dictionary is for zstd, and the codec is $codec");
        }
        $level = $shape->integer('level', ...array_slice(Codec::CODINGS[$codec], 0, 3));
        $minBytes = $shape->integer('min_bytes', 1024);
        $serializer = $shape->word('serializer', 'serialize', ['serialize', 'igbinary']);
        $shape->close();
        return compact('codec', 'level', 'minBytes', 'serializer', 'dictionaries', 'isDefault');
    }

    /** @return array{method: string, prefix: string|null, root: string|null} */
    private static function download(Shape $shape): array
    {
        $methods = ['auto', 'x-accel-redirect', 'x-sendfile', 'x-lighttpd-send-file', 'stream'];
        $method = $shape->word('method', 'auto', $methods);
        $prefix = $shape->text('prefix');
        $root = $shape->text('root');
        $shape->close();
        $isPath = preg_match('~^/[^\x00-\x20\x7f]*$~D', (string) $prefix) === 1;
        if (!$isPath && ($prefix !== null || $method === 'x-accel-redirect')) {
            throw new InvalidSettings('download.prefix must be the path of an internal location, such as /internal/');
        }
        return compact('method', 'prefix', 'root');
    }
}
