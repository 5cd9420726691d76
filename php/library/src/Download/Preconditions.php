<?php

declare(strict_types=1);

namespace Weighbridge\Library\Download;

use Weighbridge\Library\Request;

/** @internal The preconditions and the range of a request for a file (RFC 9110, sections 13 and 14). */
final class Preconditions
{
    private Request $request;

    private File $file;

    private string $etag;

    public function __construct(Request $request, File $file, int $now)
    {
        [$this->request, $this->file, $this->etag] = [$request, $file, $file->etag($now)];
    }

    /** @return array<string, string> the fields that name the version */
    public function validators(): array
    {
        return ['ETag' => $this->etag, 'Last-Modified' => gmdate('D, d M Y H:i:s', $this->file->time) . ' GMT'];
    }

    /** 412, 304, or 200 where the request goes on. */
    public function status(): int
    {
        $match = $this->request->field('if-match');
        $unmodified = self::time($this->request->field('if-unmodified-since'));
        if ($match !== null ? !$this->isListed($match, true) : $this->file->time > ($unmodified ?? PHP_INT_MAX)) {
            return 412;
        }
        $isRead = in_array($this->request->method, ['GET', 'HEAD'], true);
        $noneMatch = $this->request->field('if-none-match');
        if ($noneMatch !== null) {
            return $this->isListed($noneMatch, false) ? ($isRead ? 304 : 412) : 200;
        }
        $modified = self::time($this->request->field('if-modified-since'));
        return $isRead && $modified !== null && $this->file->time <= $modified ? 304 : 200;
    }

    /**
     * The part that is asked for: its first byte, and how many; none: the file has no byte of it. Null: the whole file,
     * be it that the field is absent, not well formed, in another unit, for another version, or names several parts.
     *
     * @return array{int, int}|null
     */
    public function range(): ?array
    {
        $form = '/^\s*bytes\s*=\s*(\d*)-(\d*)\s*$/iD';
        $isOne = preg_match($form, $this->request->field('range') ?? '', $ends) === 1 && $ends[1] . $ends[2] !== '';
        if (!$isOne || $this->request->method !== 'GET' || !$this->isSameVersion()) {
            return null;
        }
        // Numbers beyond the greatest integer become that.
        [$size, $first, $last] = [$this->file->size, (int) $ends[1], (int) $ends[2]];
        if ($ends[1] === '') {
            return [$size - min($last, $size), min($last, $size)];
        }
        $last = $ends[2] === '' ? PHP_INT_MAX : $last;
        return $last < $first ? null : [$first, max(0, min($last, $size - 1) - $first + 1)];
    }

    /** Whether If-Range, where it is there, names this content: by a strong ETag, or by the very date. */
    private function isSameVersion(): bool
    {
        $ifRange = trim($this->request->field('if-range') ?? '');
        $isStrong = strncmp($this->etag, 'W/', 2) !== 0;
        return $ifRange === '' || ($isStrong && ($ifRange === $this->etag || self::time($ifRange) === $this->file->time));
    }

    /** Whether a list of ETags has the file's. Strong comparison: a weak one is equal to none. */
    private function isListed(string $list, bool $isStrong): bool
    {
        if (trim($list) === '*') {
            return true;
        }
        preg_match_all($isStrong ? '~W/"[^"]*"(*SKIP)(*FAIL)|"[^"]*"~' : '~"[^"]*"~', $list, $tags);
        return in_array($isStrong ? $this->etag : ltrim($this->etag, 'W/'), $tags[0], true);
    }

    /** A date of HTTP as a time; null where it is none. */
    private static function time(?string $date): ?int
    {
        // `strtotime` also reads words such as "tomorrow", which are no dates of HTTP.
        $isDate = preg_match('/^[A-Z][a-z]{2,8},? .*\d\d:\d\d:\d\d/', (string) $date) === 1;
        return $isDate ? (strtotime((string) $date) ?: null) : null;
    }
}
