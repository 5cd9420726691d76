<?php

declare(strict_types=1);

namespace Weighbridge\Library;

use Throwable;
use Weighbridge\Library\Binding\Binding;
use Weighbridge\Library\Binding\Extensions;
use Weighbridge\Library\Binding\Libraries;
use Weighbridge\Library\Binding\WeighbridgeExtension;

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
    /**
     * @internal By coding: the default, the least and the greatest level, and the names by which a rule may prefer an
     * encoder. One with a smaller range of levels uses the nearest.
     */
    public const CODINGS = [
        'identity' => [0, 0, 22, []],
        'gzip' => [6, 0, 12, ['gzip', 'zlib', 'libdeflate']],
        'deflate' => [6, 0, 12, ['deflate', 'zlib', 'libdeflate']],
        'br' => [5, 0, 11, ['br', 'brotli']],
        // Beyond 19 its windows have more than 8 MB, which browsers refuse (RFC 9659).
        'zstd' => [6, -7, 19, ['zstd']],
    ];

    /** @var list<Binding>|null */
    private ?array $bindings;

    /** @param list<Binding>|null $bindings the preferred one first; null: all that this library knows */
    public function __construct(?array $bindings = null)
    {
        $this->bindings = $bindings;
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
        $given = [$data, $coding, self::level($coding, $level), $dictionary];
        return $coding === 'identity' ? $data : $this->run(Binding::ENCODE, $coding, $preferred, $given);
    }

    /**
     * Decodes a whole string to at most this many bytes.
     *
     * @throws CodecFailure when it is corrupt, cut short or larger, or no binding has the coding
     */
    public function decode(string $data, string $coding, int $maxBytes, ?string $dictionary = null): string
    {
        $given = [$data, $coding, $maxBytes, $dictionary];
        $decoded = $coding === 'identity' ? $data : $this->run(Binding::DECODE, $coding, null, $given);
        if (strlen($decoded) > $maxBytes) {
            throw new CodecFailure("$coding: the content is larger than $maxBytes bytes");
        }
        return $decoded;
    }

    /**
     * Begins an encoder that takes content in pieces.
     *
     * @throws CodecFailure when no binding has one
     */
    public function stream(string $coding, ?int $level = null, ?string $preferred = null): Stream
    {
        return $this->run(Binding::STREAM, $coding, $preferred, [$coding, self::level($coding, $level)]);
    }

    /** Whether this PHP can do it: a sum of the constants of `Binding`. */
    public function can(string $coding, int $what): bool
    {
        return $coding === 'identity' || $this->binding($coding, $what) !== null;
    }

    /** The name of the binding that would be used: `zlib extension`, `libzstd through FFI`; null: none. */
    public function binding(string $coding, int $what, ?string $preferred = null): ?string
    {
        $binding = $this->find($coding, $what, $preferred);
        return $binding === null ? null : $binding->name($coding, $what);
    }

    private function find(string $coding, int $what, ?string $preferred): ?Binding
    {
        $found = null;
        foreach (isset(self::CODINGS[$coding]) ? $this->bindings ?? $this->bindings = self::all() : [] as $binding) {
            // libdeflate comes before zlib where it is asked for.
            $isBetter = $found === null || ($preferred === 'libdeflate' && $found instanceof Extensions);
            if ($isBetter && $binding->name($coding, $what) !== null) {
                $found = $binding;
            }
        }
        return $found;
    }

    /** @return list<Binding> those that this PHP may have; classes of the others are not loaded */
    private static function all(): array
    {
        $setting = strtolower((string) ini_get('ffi.enable'));
        // A web server's PHP lets preloaded classes alone call libraries, as a rule.
        $isLimited = $setting === 'preload' && PHP_SAPI !== 'cli' && !class_exists(Libraries::class, false);
        $hasFfi = class_exists('FFI', false) && !in_array($setting, ['', '0', 'off', 'no', 'false'], true) && !$isLimited;
        $first = function_exists('weighbridge_encode') ? [new WeighbridgeExtension()] : [];
        return array_merge($first, [new Extensions()], $hasFfi ? [new Libraries()] : []);
    }

    private static function level(string $coding, ?int $level): int
    {
        [$default, $least, $most] = self::CODINGS[$coding] ?? [0, 0, 0];
        return max($least, min($most, $level ?? $default));
    }

    /**
     * Has a binding do something without warnings, so that a corrupt value is an exception and nothing else.
     *
     * @param array<mixed> $given its arguments, of which the fourth is the dictionary
     * @return mixed what it gives, but for false
     */
    private function run(int $operation, string $coding, ?string $preferred, array $given)
    {
        $what = $operation | (isset($given[3]) ? Binding::DICTIONARY : 0);
        $binding = $this->find($coding, $what, $preferred);
        if ($binding === null) {
            throw new CodecFailure("$coding: " . (isset(self::CODINGS[$coding])
                ? 'this PHP has no extension for it, and FFI does not reach its library'
                : 'unknown coding; known: ' . implode(', ', array_keys(self::CODINGS))));
        }
        set_error_handler(static fn (): bool => true);
        try {
            $method = [Binding::ENCODE => 'encode', Binding::DECODE => 'decode', Binding::STREAM => 'stream'][$operation];
            $result = $binding->$method(...$given);
        } catch (Throwable $error) {
            throw new CodecFailure("$coding: " . $error->getMessage(), 0, $error);
        } finally {
            restore_error_handler();
        }
        if ($result === false) {
            throw new CodecFailure("$coding: the content is corrupt, cut short, or larger than allowed");
        }
        return $result;
    }
}
