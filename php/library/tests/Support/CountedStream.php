<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests\Support;

/** Content of a length that its address says, `counted://9000`, and that counts what is read of it. */
final class CountedStream
{
    /** Bytes that were read. */
    public static int $read = 0;

    /** @var resource|null that PHP sets */
    public $context;

    /** What it says that its size is; `counted://5+9` has 9 bytes more. */
    private int $stated = 0;

    private int $size = 0;

    private int $at = 0;

    public function stream_open(string $path): bool // phpcs:ignore PSR1.Methods.CamelCapsMethodName
    {
        [$this->stated, $content] = array_map('intval', explode('+', substr($path, strlen('counted://')), 2) + [1 => '0']);
        $this->size = $this->stated + $content;
        return true;
    }

    public function stream_read(int $count): string // phpcs:ignore PSR1.Methods.CamelCapsMethodName
    {
        $read = min($count, $this->size - $this->at);
        $this->at += $read;
        self::$read += $read;
        return str_repeat('a', $read);
    }

    public function stream_eof(): bool // phpcs:ignore PSR1.Methods.CamelCapsMethodName
    {
        return $this->at >= $this->size;
    }

    /** @return array<string, int> */
    public function stream_stat(): array // phpcs:ignore PSR1.Methods.CamelCapsMethodName
    {
        return ['size' => $this->stated];
    }

    public function stream_seek(int $offset): bool // phpcs:ignore PSR1.Methods.CamelCapsMethodName
    {
        $this->at = $offset;
        return true;
    }

    public function stream_tell(): int // phpcs:ignore PSR1.Methods.CamelCapsMethodName
    {
        return $this->at;
    }
}
