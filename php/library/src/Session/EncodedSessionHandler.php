<?php

declare(strict_types=1);

namespace Weighbridge\Library\Session;

use ReturnTypeWillChange;
use SessionHandler;
use SessionUpdateTimestampHandlerInterface;
use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Envelope;

/**
 * Keeps sessions encoded where php.ini's `session.save_handler` keeps them: in files, Redis, memcached:
 *
 *     session_set_save_handler(new EncodedSessionHandler(), true);
 *
 * A session of before is read as it is; one that cannot be read is a new one.
 */
final class EncodedSessionHandler extends SessionHandler implements SessionUpdateTimestampHandlerInterface
{
    private Envelope $envelope;

    public function __construct(?Envelope $envelope = null)
    {
        $this->envelope = $envelope ?? new Envelope();
    }

    /** @return string|false */
    #[ReturnTypeWillChange]
    public function read($id)
    {
        $stored = parent::read($id);
        try {
            return is_string($stored) && Envelope::isSealed($stored) ? $this->envelope->open($stored) : $stored;
        } catch (CodecFailure $failure) {
            return '';
        }
    }

    public function write($id, $data): bool
    {
        return parent::write($id, $this->envelope->seal($data));
    }

    /** With `session.use_strict_mode`, only an ID that has a session is taken from a visitor. */
    public function validateId($id): bool
    {
        return !in_array(parent::read($id), ['', false], true);
    }

    public function updateTimestamp($id, $data): bool
    {
        return $this->write($id, $data);
    }
}
