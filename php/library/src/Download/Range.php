<?php

declare(strict_types=1);

namespace Weighbridge\Library\Download;

/** The part of a file that a request asks for (RFC 9110, section 14.1). */
final class Range
{
    /** More ranges than this are not read: a client that asks for them gets the whole file. */
    private const MAX_RANGES = 16;

    /** The first byte. */
    public int $from;

    /** Bytes; 0: the request asks for nothing that the file has. */
    public int $length;

    private function __construct(int $from, int $length)
    {
        $this->from = $from;
        $this->length = $length;
    }

    /**
     * The part that the field names; null: the whole file, be it that the field is absent, not well formed, in another
     * unit, or names several parts that do not join.
     */
    public static function of(?string $field, int $size): ?self
    {
        if ($field === null || strlen($field) > 1024 || preg_match('/^\s*bytes\s*=(.*)$/is', $field, $match) !== 1) {
            return null;
        }
        $specs = explode(',', $match[1]);
        $parts = [];
        foreach (count($specs) > self::MAX_RANGES ? [''] : $specs as $spec) {
            if (preg_match('/^\s*(\d*)-(\d*)\s*$/', $spec, $ends) !== 1 || $ends[1] . $ends[2] === '') {
                return null;
            }
            $part = self::part($ends[1], $ends[2], $size);
            if ($part === null) {
                return null;
            }
            if ($part[1] > 0) {
                $parts[] = $part;
            }
        }
        return self::joined($parts);
    }

    /** Whether the file has no byte of it: the answer is 416. */
    public function isEmpty(): bool
    {
        return $this->length === 0;
    }

    /**
     * First byte and length of one part; null where its end is before its beginning.
     *
     * @return array{int, int}|null
     */
    private static function part(string $first, string $last, int $size): ?array
    {
        // Numbers beyond the greatest integer become that.
        if ($first === '') {
            $length = min((int) $last, $size);
            return [$size - $length, $length];
        }
        $from = (int) $first;
        $to = $last === '' ? $size - 1 : min((int) $last, $size - 1);
        if ($last !== '' && (int) $last < $from) {
            return null;
        }
        return [$from, max(0, $to - $from + 1)];
    }

    /** @param list<array{int, int}> $parts */
    private static function joined(array $parts): ?self
    {
        sort($parts);
        $joined = array_shift($parts) ?? [0, 0];
        foreach ($parts as [$from, $length]) {
            if ($from > $joined[0] + $joined[1]) {
                return null;
            }
            $joined[1] = max($joined[1], $from + $length - $joined[0]);
        }
        return new self($joined[0], $joined[1]);
    }
}
