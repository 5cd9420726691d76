<?php

declare(strict_types=1);

namespace Weighbridge\Library\Download;

/** @internal Content-Disposition (RFC 6266), with names of every language (RFC 8187). */
final class Disposition
{
    /** Longer names are cut: file systems have 255 bytes. */
    private const MAX_BYTES = 255;

    /** The field's value for a name, which loses its folders, control characters and what is not UTF-8. */
    public static function value(string $name, bool $isInline): string
    {
        $kind = $isInline ? 'inline' : 'attachment';
        if (preg_match('//u', $name) !== 1) {
            $name = (string) preg_replace('/[^\x20-\x7e]/', '_', $name);
        }
        $name = (string) preg_replace('/[\x00-\x1f\x7f]|\xc2[\x80-\x9f]/', '', $name);
        $name = (string) preg_replace('~^.*[/\\\\]~s', '', $name);
        if (strlen($name) > self::MAX_BYTES) {
            $name = (string) preg_replace('/[\xc0-\xff]?[\x80-\xbf]*$/D', '', substr($name, 0, self::MAX_BYTES));
        }
        if ($name === '' || $name === '.' || $name === '..') {
            return $kind;
        }
        // Browsers decode percent signs in the plain form, too.
        $plain = (string) preg_replace('/[^\x20-\x7e]|%/u', '_', $name);
        $value = "$kind; filename=\"" . addcslashes($plain, '"\\') . '"';
        return $plain === $name ? $value : "$value; filename*=UTF-8''" . rawurlencode($name);
    }
}
