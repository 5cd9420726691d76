<?php

declare(strict_types=1);

namespace Weighbridge\Library;

use Throwable;
use Weighbridge\Library\Binding\Binding;
use Weighbridge\Library\Settings\InvalidSettings;

/**
 * A stored value with what it takes to read it again: a byte for the codec, a checksum, and the encoded bytes.
 *
 * The first byte is none that serialize(), igbinary, or DEFLATE (as `DeflateMarshaller` writes it) begins with, so that
 * values of before are told from sealed ones.
 */
final class Envelope
{
    /** The codec by the first byte. The three lowest bits of each are 110 or 111, which no DEFLATE block has. */
    private const CODECS = [
        "\x06" => 'identity',
        "\x07" => 'gzip',
        "\x0e" => 'deflate',
        "\x0f" => 'br',
        "\x16" => 'zstd',
        "\x17" => self::TRAINED,
    ];

    /** zstd with a dictionary, whose own checksum comes before the encoded bytes. */
    private const TRAINED = 'zstd with a dictionary';

    /** With a dictionary, values from this size pay too. */
    private const LEAST_WITH_DICTIONARY = 64;

    /** Beyond this size a value has patterns enough of its own. */
    private const MOST_WITH_DICTIONARY = 1 << 16;

    /** Whether this process has said that it reaches its codec through FFI. */
    private static bool $isFfiLogged = false;

    /** @var array{codec: string, level: int, minBytes: int, serializer: string, dictionaries: list<string>, isDefault: bool} */
    private array $settings;

    private Codec $codec;

    private int $maxBytes;

    /** @var array<string, string> content by checksum, the one that encodes first */
    private array $dictionaries = [];

    /**
     * @param int $maxBytes an encoded value that decodes to more is refused; a larger one is not encoded
     * @throws InvalidSettings when this PHP lacks the codec that the settings name, or a dictionary cannot be read
     */
    public function __construct(?Settings $settings = null, ?Codec $codec = null, int $maxBytes = 1 << 26)
    {
        [$this->settings, $this->codec] = [($settings ?? Settings::defaults())->value, $codec ?? new Codec()];
        $this->maxBytes = $maxBytes;
        if (!$this->settings['isDefault']) {
            $this->checkCodec();
        }
        foreach ($this->settings['dictionaries'] as $path) {
            $content = is_file($path) && is_readable($path) ? (string) file_get_contents($path) : '';
            if ($content === '') {
                throw new InvalidSettings("value.dictionary: $path is empty, absent, or cannot be read; values need it");
            }
            $this->dictionaries[self::sum($content)] = $content;
        }
    }

    /** Whether `open()` would take it for a sealed value. */
    public static function isSealed(string $stored): bool
    {
        return $stored !== '' && isset(self::CODECS[$stored[0]]);
    }

    /** Encodes a value where that makes it smaller. */
    public function seal(string $value): string
    {
        $size = strlen($value);
        $isTrained = $this->dictionaries !== []
            && $size >= self::LEAST_WITH_DICTIONARY && $size <= self::MOST_WITH_DICTIONARY;
        $codec = $isTrained ? self::TRAINED : $this->settings['codec'];
        $isPlain = (!$isTrained && $size < $this->settings['minBytes']) || $size > $this->maxBytes;
        $sum = $isTrained ? (string) array_key_first($this->dictionaries) : '';
        [$coding, $dictionary] = $isTrained ? ['zstd', $this->dictionaries[$sum]] : [$codec, null];
        try {
            $level = $this->settings['level'];
            $body = $isPlain ? $value : $sum . $this->codec->encode($value, $coding, $level, $dictionary);
        } catch (CodecFailure $failure) {
            $body = $value;
        }
        [$body, $codec] = strlen($body) < $size ? [$body, $codec] : [$value, 'identity'];
        $mark = (string) array_search($codec, self::CODECS, true);
        return $mark . self::sum($body, $mark) . $body;
    }

    /**
     * The value that was sealed.
     *
     * @throws CodecFailure when it is not a sealed one, was cut short or changed, or its dictionary is none of these
     */
    public function open(string $stored): string
    {
        if (!self::isSealed($stored)) {
            throw new CodecFailure('the stored value is not a sealed one');
        }
        $body = (string) substr($stored, 5);
        if (substr($stored, 1, 4) !== self::sum($body, $stored[0])) {
            throw new CodecFailure('the stored value was cut short or changed: its checksum is another');
        }
        $codec = self::CODECS[$stored[0]];
        if ($codec !== self::TRAINED) {
            return $codec === 'identity' ? $body : $this->codec->decode($body, $codec, $this->maxBytes);
        }
        $dictionary = $this->dictionaries[(string) substr($body, 0, 4)] ?? null;
        if ($dictionary === null) {
            throw new CodecFailure('the stored value was encoded with another dictionary');
        }
        return $this->codec->decode((string) substr($body, 4), 'zstd', $this->maxBytes, $dictionary);
    }

    /**
     * Serializes and seals a value of any type that can be serialized.
     *
     * @param mixed $value
     * @throws Throwable what serializing it throws
     */
    public function sealValue($value): string
    {
        if ($this->settings['serializer'] !== 'igbinary') {
            return $this->seal(serialize($value));
        }
        if (!function_exists('igbinary_serialize')) {
            throw new InvalidSettings('value.serializer is igbinary, which this PHP (' . PHP_SAPI . ') does not have');
        }
        return $this->seal((string) igbinary_serialize($value));
    }

    /**
     * The value that was serialized and sealed.
     *
     * @return mixed
     * @throws CodecFailure when `open()` does, or it cannot be unserialized
     */
    public function openValue(string $stored)
    {
        $serialized = $this->open($stored);
        $isIgbinary = strncmp($serialized, "\0\0\0", 3) === 0;
        if ($isIgbinary && !function_exists('igbinary_unserialize')) {
            throw new CodecFailure('the stored value is one of igbinary, which this PHP does not have');
        }
        try {
            $value = $isIgbinary ? @igbinary_unserialize($serialized) : @unserialize($serialized);
        } catch (Throwable $error) {
            $value = false;
        }
        if (!$isIgbinary && $value === false && $serialized !== 'b:0;') {
            throw new CodecFailure('the stored value cannot be unserialized', 0, $error ?? null);
        }
        return $value;
    }

    /**
     * What another store gave: the value that was sealed, or anything else as it is; the default where it cannot be read.
     *
     * @param mixed $stored
     * @param mixed $default
     * @return mixed
     */
    public function openStored($stored, $default = null)
    {
        try {
            return is_string($stored) && self::isSealed($stored) ? $this->openValue($stored) : $stored;
        } catch (CodecFailure $failure) {
            return $default;
        }
    }

    /** Refuses a codec that this PHP lacks, and says on a terminal that a web server's PHP may lack it. */
    private function checkCodec(): void
    {
        $codec = $this->settings['codec'];
        $isTrained = $this->settings['dictionaries'] !== [];
        $what = Binding::ENCODE | Binding::DECODE | ($isTrained ? Binding::DICTIONARY : 0);
        $binding = $codec === 'identity' ? '' : $this->codec->binding($codec, $what);
        if ($binding === null) {
            $with = $isTrained ? ' with dictionaries' : '';
            throw new InvalidSettings("value.codec is $codec$with, which no extension of this PHP (" . PHP_SAPI . ') has '
                . 'and FFI does not reach; values of it could not be read: install one, or leave the codec out');
        }
        if (!self::$isFfiLogged && substr($binding, -3) === 'FFI' && PHP_SAPI === 'cli') {
            self::$isFfiLogged = true;
            error_log("weighbridge: value.codec $codec is $binding here; a web server's PHP reads these values only with "
                . 'its extension, or with ffi.enable=preload and this library\'s preload.php');
        }
    }

    /** Four bytes that change when a byte does. */
    private static function sum(string $bytes, string $mark = "\0"): string
    {
        return pack('N', crc32($bytes) ^ (ord($mark) * 0x01010101));
    }
}
