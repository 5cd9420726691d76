<?php

declare(strict_types=1);

namespace Weighbridge\Library\Settings;

/** @internal An array whose keys are read one by one with their types. Keys that nobody read are refused at the end. */
final class Shape
{
    /** @var array<mixed> */
    private array $values;

    /** Where the array stands in the settings: `page.rules[0]`; empty at the top. */
    private string $where;

    /** @var list<string> the keys that were read */
    private array $known = [];

    /** @param array<mixed> $values */
    public function __construct(array $values, string $where)
    {
        $this->values = $values;
        $this->where = $where;
    }

    /** The name of a key with where it stands. */
    public function path(string $key): string
    {
        return $this->where === '' ? $key : "{$this->where}.$key";
    }

    /** Whether the key is there at all. */
    public function has(string $key): bool
    {
        return array_key_exists($key, $this->values);
    }

    /** A whole number, or the default where the key is absent or null. */
    public function integer(string $key, int $default, int $least, int $most): int
    {
        $value = $this->take($key) ?? $default;
        if (!is_int($value) || $value < $least || $value > $most) {
            throw $this->unexpected($key, $value, "an integer of $least to $most");
        }
        return $value;
    }

    /**
     * One of these words, or the default where the key is absent or null.
     *
     * @param list<string> $words
     */
    public function word(string $key, string $default, array $words): string
    {
        $value = $this->take($key) ?? $default;
        if (!is_string($value) || !in_array($value, $words, true)) {
            throw $this->unexpected($key, $value, 'one of: ' . implode(', ', $words));
        }
        return $value;
    }

    /** A text, or null where the key is absent or null. */
    public function text(string $key): ?string
    {
        $value = $this->take($key);
        if ($value !== null && (!is_string($value) || $value === '' || strpos($value, "\0") !== false)) {
            throw $this->unexpected($key, $value, 'a text, or null');
        }
        return $value;
    }

    /**
     * A list of texts, of which one may stand alone; an absent or null one is empty.
     *
     * @return list<string>
     */
    public function texts(string $key): array
    {
        $texts = [];
        foreach ((array) $this->take($key) as $value) {
            if (!is_string($value) || $value === '') {
                throw $this->unexpected($key, $value, 'a list of texts');
            }
            $texts[] = $value;
        }
        return $texts;
    }

    /** An array of its own below this key; an absent one is empty. */
    public function shape(string $key): self
    {
        return new self($this->entries($key, 'an array'), $this->path($key));
    }

    /**
     * A list of arrays.
     *
     * @return list<self>
     */
    public function shapes(string $key): array
    {
        $shapes = [];
        foreach ($this->entries($key, 'a list of arrays') as $index => $value) {
            if (!is_int($index) || !is_array($value)) {
                throw $this->unexpected($key, $value, 'a list of arrays');
            }
            $shapes[] = new self($value, $this->path($key) . "[$index]");
        }
        return $shapes;
    }

    /** Refuses the keys that nobody read. */
    public function close(): void
    {
        foreach (array_keys($this->values) as $key) {
            $key = (string) $key;
            if (!in_array($key, $this->known, true)) {
                throw new InvalidSettings('unknown key ' . $this->path(self::quoted($key)) . $this->suggestion($key));
            }
        }
    }

    /** @return mixed */
    private function take(string $key)
    {
        $this->known[] = $key;
        return $this->values[$key] ?? null;
    }

    /** @return array<mixed> */
    private function entries(string $key, string $expected): array
    {
        $value = $this->take($key) ?? [];
        if (!is_array($value)) {
            throw $this->unexpected($key, $value, $expected);
        }
        return $value;
    }

    /** @param mixed $value */
    private function unexpected(string $key, $value, string $expected): InvalidSettings
    {
        $shown = is_string($value) ? '"' . self::quoted($value) . '"' : (is_int($value) ? (string) $value : gettype($value));
        return new InvalidSettings($this->path($key) . " is $shown, expected $expected");
    }

    private function suggestion(string $key): string
    {
        foreach ($this->known as $known) {
            if (strlen($key) < 64 && levenshtein($key, $known) <= 2) {
                return "; did you mean $known?";
            }
        }
        return '; known: ' . implode(', ', $this->known);
    }

    /** At most 40 printable bytes, so that the message stays one line. */
    private static function quoted(string $text): string
    {
        $text = (string) preg_replace('/[^\x20-\x7e]/', '?', $text);
        return strlen($text) > 40 ? substr($text, 0, 40) . '…' : $text;
    }
}
