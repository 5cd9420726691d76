<?php

declare(strict_types=1);

namespace Weighbridge\Library\Session;

use ReturnTypeWillChange;
use SessionHandlerInterface;
use SessionUpdateTimestampHandlerInterface;
use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Envelope;

/**
 * Keeps sessions encoded in another handler, PHP's own among them:
 *
 *     session_set_save_handler(new EncodedSessionHandler(new SessionHandler()), true);
 *
 * A session of before is read as it is; one that cannot be read is a new one.
 */
final class EncodedSessionHandler implements SessionHandlerInterface, SessionUpdateTimestampHandlerInterface
{
    private SessionHandlerInterface $inner;

    private Envelope $envelope;

    public function __construct(SessionHandlerInterface $inner, ?Envelope $envelope = null)
    {
        $this->inner = $inner;
        $this->envelope = $envelope ?? new Envelope();
    }

    public function open($path, $name): bool
    {
        return $this->inner->open($path, $name);
    }

    public function close(): bool
    {
        return $this->inner->close();
    }

    /** @return string|false */
    #[ReturnTypeWillChange]
    public function read($id)
    {
        $stored = $this->inner->read($id);
        try {
            return is_string($stored) && Envelope::isSealed($stored) ? $this->envelope->open($stored) : $stored;
        } catch (CodecFailure $failure) {
            return '';
        }
    }

    public function write($id, $data): bool
    {
        return $this->inner->write($id, $this->envelope->seal($data));
    }

    public function destroy($id): bool
    {
        return $this->inner->destroy($id);
    }

    /** @return int|false */
    #[ReturnTypeWillChange]
    public function gc($lifetime)
    {
        return $this->inner->gc($lifetime);
    }

    /** With `session.use_strict_mode`, only an ID that has a session is taken from a visitor. */
    public function validateId($id): bool
    {
        return $this->inner instanceof SessionUpdateTimestampHandlerInterface
            ? $this->inner->validateId($id)
            : !in_array($this->inner->read($id), ['', false], true);
    }

    public function updateTimestamp($id, $data): bool
    {
        return $this->inner instanceof SessionUpdateTimestampHandlerInterface
            ? $this->inner->updateTimestamp($id, $this->envelope->seal($data))
            : $this->write($id, $data);
    }
}
