<?php

declare(strict_types=1);

namespace Weighbridge\Library\Settings;

/** @internal An array whose keys are read one by one with their types. Keys that nobody read are refused at the end. */
final class Shape
{
    /** @var array<mixed> */
    private array $values;

    /** What stands before a key in messages: `page.rules[0].`. */
    private string $where;

    /** @var list<string> the keys that were read */
    private array $known = [];

    /** @param array<mixed> $values */
    public function __construct(array $values, string $where = '')
    {
        [$this->values, $this->where] = [$values, $where];
    }

    /** Whether the key is there at all. */
    public function has(string $key): bool
    {
        return array_key_exists($key, $this->values);
    }

    /** A whole number, or the default where the key is absent or null. */
    public function integer(string $key, int $default, int $least = 0, int $most = PHP_INT_MAX): int
    {
        $isFine = static fn ($value): bool => is_int($value) && $value >= $least && $value <= $most;
        return $this->take($key, $default, "an integer of $least to $most", $isFine);
    }

    /**
     * One of these words, or the default where the key is absent or null.
     *
     * @param list<string> $words
     */
    public function word(string $key, string $default, array $words): string
    {
        $isFine = static fn ($value): bool => in_array($value, $words, true);
        return $this->take($key, $default, 'one of: ' . implode(', ', $words), $isFine);
    }

    /** A text, or null where the key is absent or null. */
    public function text(string $key): ?string
    {
        $isText = static fn ($value): bool => is_string($value) && $value !== '' && strpos($value, "\0") === false;
        return $this->take($key, null, 'a text, or null', static fn ($value): bool => $value === null || $isText($value));
    }

    /**
     * A list of texts, of which one may stand alone; an absent or null one is empty.
     *
     * @return list<string>
     */
    public function texts(string $key): array
    {
        $isText = static fn ($value): bool => is_string($value) && $value !== '';
        $areTexts = static fn ($value): bool => array_filter((array) $value, $isText) === (array) $value;
        return (array) $this->take($key, [], 'a list of texts', $areTexts);
    }

    /** An array of its own below this key; an absent one is empty. */
    public function shape(string $key): self
    {
        return new self($this->take($key, [], 'an array', 'is_array'), "{$this->where}$key.");
    }

    /**
     * A list of arrays; an absent one is empty.
     *
     * @return list<self>
     */
    public function shapes(string $key): array
    {
        $isList = static fn ($value): bool => is_array($value) && array_values(array_filter($value, 'is_array')) === $value;
        $values = $this->take($key, [], 'a list of arrays', $isList);
        $shape = fn (array $value, int $at): self => new self($value, "{$this->where}{$key}[$at].");
        return array_map($shape, $values, array_keys($values));
    }

    /** Refuses the keys that nobody read. */
    public function close(): void
    {
        foreach (array_diff(array_map('strval', array_keys($this->values)), $this->known) as $key) {
            $isNear = static fn (string $known): bool => strlen($key) < 64 && levenshtein($key, $known) <= 2;
            $near = array_filter($this->known, $isNear);
            $hint = $near === [] ? 'known: ' . implode(', ', $this->known) : 'did you mean ' . current($near) . '?';
            throw new InvalidSettings("unknown key {$this->where}" . self::quoted($key) . "; $hint");
        }
    }

    /**
     * @param mixed                 $default
     * @param callable(mixed): bool $isFine
     * @return mixed
     */
    public function take(string $key, $default, string $expected, callable $isFine)
    {
        $this->known[] = $key;
        $value = $this->values[$key] ?? $default;
        if (!$isFine($value)) {
            $shown = is_int($value) ? (string) $value : gettype($value);
            $shown = is_string($value) ? '"' . self::quoted($value) . '"' : $shown;
            throw new InvalidSettings("{$this->where}$key is $shown, expected $expected");
        }
        return $value;
    }

    /** At most 40 printable bytes, so that the message stays one line. */
    private static function quoted(string $text): string
    {
        $text = (string) preg_replace('/[^\x20-\x7e]/', '?', $text);
        return strlen($text) > 40 ? substr($text, 0, 40) . '…' : $text;
    }
}
