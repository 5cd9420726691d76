<?php

declare(strict_types=1);

namespace Weighbridge\Library;

use Weighbridge\Library\Binding\Binding;
use Weighbridge\Library\Settings\Values;

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

    private Values $settings;

    private Codec $codec;

    private int $maxBytes;

    /** Null: none; false: not read yet. @var string|false|null */
    private $dictionary = false;

    /** @param int $maxBytes a value that decodes to more is refused */
    public function __construct(?Settings $settings = null, ?Codec $codec = null, int $maxBytes = 1 << 26)
    {
        $this->settings = ($settings ?? Settings::defaults())->value;
        $this->codec = $codec ?? new Codec();
        $this->maxBytes = $maxBytes;
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
        $dictionary = $size >= self::LEAST_WITH_DICTIONARY && $size <= self::MOST_WITH_DICTIONARY
            ? $this->dictionary()
            : null;
        $codec = $dictionary === null ? $this->settings->codec : self::TRAINED;
        if ($dictionary === null && $size < $this->settings->minBytes) {
            $codec = 'identity';
        }
        try {
            $body = $codec === self::TRAINED
                ? self::sum((string) $dictionary) . $this->codec->encode($value, 'zstd', $this->settings->level, $dictionary)
                : $this->codec->encode($value, $codec, $this->settings->level);
        } catch (CodecFailure $failure) {
            $body = $value;
            $codec = 'identity';
        }
        if (strlen($body) >= $size) {
            $body = $value;
            $codec = 'identity';
        }
        $mark = (string) array_search($codec, self::CODECS, true);
        return $mark . self::sum($body, $mark) . $body;
    }

    /**
     * The value that was sealed.
     *
     * @throws CodecFailure when it is not a sealed one, was cut short or changed, or its dictionary is not this one
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
            return $this->codec->decode($body, $codec, $this->maxBytes);
        }
        $dictionary = $this->dictionary();
        if ($dictionary === null || substr($body, 0, 4) !== self::sum($dictionary)) {
            throw new CodecFailure('the stored value was encoded with another dictionary');
        }
        return $this->codec->decode((string) substr($body, 4), 'zstd', $this->maxBytes, $dictionary);
    }

    /** The dictionary's content where there is one and it can be used. */
    private function dictionary(): ?string
    {
        if ($this->dictionary === false) {
            $path = $this->settings->dictionary;
            $isUsable = $path !== null && is_file($path) && is_readable($path)
                && $this->codec->can('zstd', Binding::ENCODE | Binding::DECODE | Binding::DICTIONARY);
            $content = $isUsable ? file_get_contents((string) $path) : false;
            $this->dictionary = $content === false || $content === '' ? null : $content;
        }
        return $this->dictionary;
    }

    /** Four bytes that change when a byte does. */
    private static function sum(string $bytes, string $mark = "\0"): string
    {
        return pack('N', crc32($bytes) ^ (ord($mark) * 0x01010101));
    }
}
