<?php

declare(strict_types=1);

namespace Weighbridge\Library;

use Throwable;
use Weighbridge\Library\Binding\Binding;
use Weighbridge\Library\Binding\BrotliExtension;
use Weighbridge\Library\Binding\LibBrotli;
use Weighbridge\Library\Binding\LibDeflate;
use Weighbridge\Library\Binding\LibZstd;
use Weighbridge\Library\Binding\WeighbridgeExtension;
use Weighbridge\Library\Binding\ZlibExtension;
use Weighbridge\Library\Binding\ZstdExtension;

/**
 * Encodes and decodes strings by the name of a coding, through the first binding that this PHP has: the extension
 * `weighbridge`, the extensions zlib, brotli and zstd, then the same libraries and libdeflate through FFI.
 *
 * For sessions and caches as well as for pages:
 *
 *     $codec = new Codec();
 *     $stored = $codec->encode($session, 'zstd', 3);
 *     $session = $codec->decode($stored, 'zstd', 1 << 20);
 */
final class Codec
{
    /** By coding: the least, the greatest and the default level, the names of its encoders, and what reaches them, the best first. */
    private const CODINGS = [
        'identity' => [0, 22, 0, [], []],
        'gzip' => [0, 12, 6, ['gzip', 'zlib', 'libdeflate'], self::DEFLATE],
        'deflate' => [0, 12, 6, ['deflate', 'zlib', 'libdeflate'], self::DEFLATE],
        'br' => [0, 11, 5, ['br', 'brotli'], [WeighbridgeExtension::class, BrotliExtension::class, LibBrotli::class]],
        // Beyond 19 its windows have more than 8 MB, which browsers refuse (RFC 9659).
        'zstd' => [-7, 19, 6, ['zstd'], [WeighbridgeExtension::class, ZstdExtension::class, LibZstd::class]],
    ];

    private const DEFLATE = [WeighbridgeExtension::class, ZlibExtension::class, LibDeflate::class];

    /** Of each binding: its name, the encoder that it is, null for every one, and a function that must be there, null for FFI. */
    private const BINDINGS = [
        WeighbridgeExtension::class => ['weighbridge extension', null, 'weighbridge_encode'],
        ZlibExtension::class => ['zlib extension', 'zlib', 'deflate_init'],
        BrotliExtension::class => ['brotli extension', 'brotli', 'brotli_compress'],
        ZstdExtension::class => ['zstd extension', 'zstd', 'zstd_compress'],
        LibDeflate::class => ['libdeflate through FFI', 'libdeflate', null],
        LibBrotli::class => ['libbrotli through FFI', 'brotli', null],
        LibZstd::class => ['libzstd through FFI', 'zstd', null],
    ];

    /** @var list<Binding>|null */
    private ?array $bindings;

    /** @var array<class-string, Binding> those that were looked at */
    private array $known = [];

    /** @param list<Binding>|null $bindings the preferred one first; null: all that this library knows */
    public function __construct(?array $bindings = null)
    {
        $this->bindings = $bindings;
    }

    /**
     * The least, the greatest and the default level of a coding. An encoder with a smaller range uses the nearest.
     *
     * @return array{int, int, int}
     */
    public static function levels(string $coding): array
    {
        [$least, $most, $default] = self::CODINGS[$coding];
        return [$least, $most, $default];
    }

    /**
     * The names by which a rule may prefer an encoder of this coding.
     *
     * @return list<string>
     */
    public static function names(string $coding): array
    {
        return self::CODINGS[$coding][3];
    }

    /**
     * Encodes a whole string.
     *
     * @param string|null $dictionary zstd only: the content of a trained dictionary
     * @param string|null $preferred  the encoder that is preferred, such as `libdeflate`
     * @throws CodecFailure when no binding has the coding, or encoding fails
     */
    public function encode(
        string $data,
        string $coding,
        ?int $level = null,
        ?string $dictionary = null,
        ?string $preferred = null
    ): string {
        if ($coding === 'identity') {
            return $data;
        }
        $what = Binding::ENCODE | ($dictionary === null ? 0 : Binding::DICTIONARY);
        $binding = $this->bindingFor($coding, $what, $preferred);
        return self::guarded($coding, static function () use ($binding, $data, $coding, $level, $dictionary): string {
            return $binding->encode($data, $coding, self::level($coding, $level), $dictionary);
        });
    }

    /**
     * Decodes a whole string to at most this many bytes.
     *
     * @throws CodecFailure when it is not of this coding, is cut short, is larger, or no binding has the coding
     */
    public function decode(string $data, string $coding, int $maxBytes, ?string $dictionary = null): string
    {
        if ($coding === 'identity') {
            return self::bounded($data, $coding, $maxBytes);
        }
        if ($data === '') {
            throw new CodecFailure("$coding: the content is cut short: nothing is left");
        }
        $what = Binding::DECODE | ($dictionary === null ? 0 : Binding::DICTIONARY);
        $binding = $this->bindingFor($coding, $what, null);
        $decoded = self::guarded($coding, static function () use ($binding, $data, $coding, $maxBytes, $dictionary) {
            return $binding->decode($data, $coding, $maxBytes, $dictionary);
        });
        return self::bounded($decoded, $coding, $maxBytes);
    }

    /**
     * Begins an encoder that takes content in pieces.
     *
     * @throws CodecFailure when no binding has one
     */
    public function stream(string $coding, ?int $level = null, ?string $preferred = null): Stream
    {
        $binding = $this->bindingFor($coding, Binding::STREAM, $preferred);
        return $binding->stream($coding, self::level($coding, $level));
    }

    /** Whether this PHP can do it: a sum of the constants of `Binding`. */
    public function can(string $coding, int $what): bool
    {
        return $coding === 'identity' || $this->find($coding, $what, null) !== null;
    }

    /** The name of the binding that would be used: `zlib extension`, `libzstd through FFI`; null: none. */
    public function binding(string $coding, int $what, ?string $preferred = null): ?string
    {
        $binding = $this->find($coding, $what, $preferred);
        return $binding === null ? null : self::BINDINGS[get_class($binding)][0] ?? get_class($binding);
    }

    private function bindingFor(string $coding, int $what, ?string $preferred): Binding
    {
        $binding = $this->find($coding, $what, $preferred);
        if ($binding === null) {
            throw new CodecFailure(
                isset(self::CODINGS[$coding])
                    ? "$coding: this PHP has no extension for it, and FFI does not reach its library"
                    : "$coding: unknown coding; known: " . implode(', ', array_keys(self::CODINGS))
            );
        }
        return $binding;
    }

    /** The first binding of the preferred encoder, else the first at all. The extension `weighbridge` is of every encoder. */
    private function find(string $coding, int $what, ?string $preferred): ?Binding
    {
        $found = null;
        foreach ($this->bindings ?? $this->loaded($coding) as $binding) {
            if (!$binding->can($coding, $what)) {
                continue;
            }
            $encoder = self::BINDINGS[get_class($binding)][1] ?? null;
            if ($preferred === null || in_array($preferred, [$coding, $encoder ?? $preferred], true)) {
                return $binding;
            }
            $found = $found ?? $binding;
        }
        return $found;
    }

    /**
     * The bindings of a coding that this PHP may have. Classes of the others are not loaded.
     *
     * @return iterable<Binding>
     */
    private function loaded(string $coding): iterable
    {
        foreach (self::CODINGS[$coding][4] ?? [] as $class) {
            $function = self::BINDINGS[$class][2];
            if ($function === null ? self::allowsForeignCode($class) : function_exists($function)) {
                yield $this->known[$class] ?? $this->known[$class] = new $class();
            }
        }
    }

    /** Whether PHP lets this class call libraries: a web server's PHP allows that to preloaded ones alone, as a rule. */
    private static function allowsForeignCode(string $class): bool
    {
        $setting = strtolower((string) ini_get('ffi.enable'));
        $isLimited = $setting === 'preload' && PHP_SAPI !== 'cli' && !class_exists($class, false);
        return class_exists('FFI', false) && !in_array($setting, ['', '0', 'off', 'no', 'false'], true) && !$isLimited;
    }

    private static function level(string $coding, ?int $level): int
    {
        [$least, $most, $default] = self::levels($coding);
        return max($least, min($most, $level ?? $default));
    }

    /**
     * Runs a codec without warnings, so that a corrupt value is an exception and nothing else.
     *
     * @param callable(): string $work
     */
    private static function guarded(string $coding, callable $work): string
    {
        set_error_handler(static function (): bool {
            return true;
        });
        try {
            return $work();
        } catch (CodecFailure $failure) {
            throw $failure;
        } catch (Throwable $error) {
            throw new CodecFailure("$coding: " . $error->getMessage(), 0, $error);
        } finally {
            restore_error_handler();
        }
    }

    private static function bounded(string $decoded, string $coding, int $maxBytes): string
    {
        if (strlen($decoded) > $maxBytes) {
            throw new CodecFailure("$coding: the content is larger than $maxBytes bytes");
        }
        return $decoded;
    }
}
