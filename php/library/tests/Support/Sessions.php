<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests\Support;

use ReturnTypeWillChange;
use SessionHandlerInterface;
use SessionUpdateTimestampHandlerInterface;

/** Sessions in memory, with IDs and times. */
final class Sessions implements SessionHandlerInterface, SessionUpdateTimestampHandlerInterface
{
    /** @var array<string, string> */
    public array $data = [];

    /** @var list<string> */
    public array $touched = [];

    public function open($path, $name): bool
    {
        return true;
    }

    public function close(): bool
    {
        return true;
    }

    /** @return string|false */
    #[ReturnTypeWillChange]
    public function read($id)
    {
        return $this->data[$id] ?? '';
    }

    public function write($id, $data): bool
    {
        $this->data[$id] = $data;
        return true;
    }

    public function destroy($id): bool
    {
        unset($this->data[$id]);
        return true;
    }

    /** @return int|false */
    #[ReturnTypeWillChange]
    public function gc($lifetime)
    {
        return 3;
    }

    public function validateId($id): bool
    {
        return isset($this->data[$id]);
    }

    public function updateTimestamp($id, $data): bool
    {
        $this->touched[] = $id;
        return $this->data[$id] === $data;
    }
}
