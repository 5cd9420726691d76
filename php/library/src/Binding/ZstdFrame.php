<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

/** @internal The header of a zstd frame (RFC 8878, section 3.1.1.1). */
final class ZstdFrame
{
    private const MAGIC = "\x28\xb5\x2f\xfd";

    /** How many bytes the frame says that it decodes to; null where it is no frame or does not say. */
    public static function contentSize(string $frame): ?int
    {
        if (strncmp($frame, self::MAGIC, 4) !== 0 || strlen($frame) < 6) {
            return null;
        }
        $descriptor = ord($frame[4]);
        $isSingle = ($descriptor & 0x20) !== 0;
        $from = 5 + ($isSingle ? 0 : 1) + [0, 1, 2, 4][$descriptor & 3];
        $width = [$isSingle ? 1 : 0, 2, 4, 8][$descriptor >> 6];
        $field = substr($frame, $from, $width);
        if ($width === 0 || strlen($field) < $width) {
            return null;
        }
        $size = 0;
        for ($i = $width - 1; $i >= 0; $i--) {
            $size = $size * 256 + ord($field[$i]);
        }
        // Beyond 2^63 it becomes a float: no such content exists.
        return is_int($size) ? $size + ($width === 2 ? 256 : 0) : PHP_INT_MAX;
    }
}
