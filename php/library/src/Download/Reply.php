<?php

declare(strict_types=1);

namespace Weighbridge\Library\Download;

use Weighbridge\Library\Request;

/** The response to a request for a file: status, header fields, and which bytes. */
final class Reply
{
    public int $status;

    /** @var array<string, string> */
    public array $fields;

    /** @var array{int, int}|null from which byte, and how many; null: no content of the file */
    public ?array $range;

    /**
     * @param array<string, string> $fields
     * @param array{int, int}|null  $range
     */
    public function __construct(int $status, array $fields, ?array $range)
    {
        $this->status = $status;
        $this->fields = $fields;
        $this->range = $range;
    }

    /**
     * The response, by the preconditions and the range of the request, in the order of RFC 9110, section 13.2.2.
     *
     * @param array<string, string> $fields those of a whole response
     */
    public static function to(Request $request, File $file, array $fields, ?int $now = null): self
    {
        $etag = $file->etag($now ?? time());
        $validators = ['ETag' => $etag, 'Last-Modified' => gmdate('D, d M Y H:i:s', $file->time) . ' GMT'];
        $isRead = in_array($request->method, ['GET', 'HEAD'], true);
        switch (self::precondition($request, $file, $etag, $isRead)) {
            case 412:
                return new self(412, $validators, null);
            case 304:
                $kept = array_intersect_key($fields, ['Cache-Control' => true]);
                return new self(304, $validators + $kept, null);
        }
        $fields += $validators + ['Accept-Ranges' => 'bytes'];
        $range = $request->method === 'GET' && self::mayBePart($request, $file, $etag)
            ? Range::of($request->field('range'), $file->size)
            : null;
        if ($range === null) {
            return new self(200, $fields + ['Content-Length' => (string) $file->size], [0, $file->size]);
        }
        if ($range->isEmpty()) {
            unset($fields['Content-Disposition']);
            return new self(416, ['Content-Range' => "bytes */{$file->size}", 'Content-Length' => '0'] + $fields, null);
        }
        $last = $range->from + $range->length - 1;
        $fields['Content-Range'] = "bytes {$range->from}-$last/{$file->size}";
        $fields['Content-Length'] = (string) $range->length;
        return new self(206, $fields, [$range->from, $range->length]);
    }

    /** 412, 304, or 200 where the request goes on. */
    private static function precondition(Request $request, File $file, string $etag, bool $isRead): int
    {
        $match = $request->field('if-match');
        $unmodified = self::time($request->field('if-unmodified-since'));
        if ($match !== null ? !self::listed($match, $etag, true) : ($unmodified !== null && $file->time > $unmodified)) {
            return 412;
        }
        $noneMatch = $request->field('if-none-match');
        if ($noneMatch !== null) {
            if (!self::listed($noneMatch, $etag, false)) {
                return 200;
            }
            return $isRead ? 304 : 412;
        }
        $modified = self::time($request->field('if-modified-since'));
        return $isRead && $modified !== null && $file->time <= $modified ? 304 : 200;
    }

    /** Whether If-Range, where it is there, names this content: by a strong ETag, or by the very date. */
    private static function mayBePart(Request $request, File $file, string $etag): bool
    {
        $ifRange = trim($request->field('if-range') ?? '');
        if ($ifRange === '') {
            return true;
        }
        if (preg_match('~^(?:W/)?"~', $ifRange) === 1) {
            return $ifRange === $etag && strncmp($etag, 'W/', 2) !== 0;
        }
        return self::time($ifRange) === $file->time && strncmp($etag, 'W/', 2) !== 0;
    }

    /** Whether a list of ETags has this one. Strong comparison: a weak one is equal to none. */
    private static function listed(string $list, string $etag, bool $isStrong): bool
    {
        if (trim($list) === '*') {
            return true;
        }
        if ($isStrong && strncmp($etag, 'W/', 2) === 0) {
            return false;
        }
        $opaque = substr($etag, (int) strpos($etag, '"'));
        preg_match_all('~(W/)?("[^"]*")~', $list, $members, PREG_SET_ORDER);
        foreach ($members as $member) {
            if ($member[2] === $opaque && !($isStrong && $member[1] !== '')) {
                return true;
            }
        }
        return false;
    }

    /** A date of HTTP as a time; null where it is none. */
    private static function time(?string $date): ?int
    {
        // `strtotime` also reads words such as "tomorrow", which are no dates of HTTP.
        if ($date === null || preg_match('/^[A-Z][a-z]{2,8},? .*\d\d:\d\d:\d\d/', $date) !== 1) {
            return null;
        }
        $time = strtotime($date);
        return $time === false ? null : $time;
    }
}
