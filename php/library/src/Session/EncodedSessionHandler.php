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
    /** Settings with which handlers lock what is read. */
    private const LOCKS = ['memcached.sess_locking', 'redis.session.locking_enabled'];

    private Envelope $envelope;

    /** Whether sessions are kept in PHP's own files; php.ini's setting changes when this handler is set. */
    private bool $isInFiles;

    public function __construct(?Envelope $envelope = null)
    {
        [$this->envelope, $this->isInFiles] = [$envelope ?? new Envelope(), ini_get('session.save_handler') === 'files'];
    }

    /** @return string|false */
    #[ReturnTypeWillChange]
    public function read($id)
    {
        $stored = parent::read($id);
        if (!is_string($stored) || !Envelope::isSealed($stored)) {
            return $stored;
        }
        try {
            return $this->envelope->open($stored);
        } catch (CodecFailure $failure) {
            return self::isOfBefore($stored) ? $stored : '';
        }
    }

    public function write($id, $data): bool
    {
        return parent::write($id, $this->envelope->seal($data));
    }

    /**
     * With `session.use_strict_mode`, only an ID that has a session is taken from a visitor. PHP gives no way to ask its
     * own handlers for that but to read, which leaves neither a lock nor a file here.
     */
    public function validateId($id): bool
    {
        $locks = [];
        foreach (self::LOCKS as $name) {
            $locks[$name] = function_exists('ini_set') ? ini_set($name, '0') : false;
        }
        try {
            $stored = parent::read($id);
        } finally {
            foreach (array_filter($locks, 'is_string') as $name => $value) {
                ini_set($name, $value);
            }
        }
        if ($stored === '' && $this->isInFiles) {
            parent::destroy($id);
        }
        return !in_array($stored, ['', false], true);
    }

    public function updateTimestamp($id, $data): bool
    {
        return $this->write($id, $data);
    }

    /** Whether it is what `php_binary` wrote: the length of a name, which may be a mark of an envelope, the name, a value. */
    private static function isOfBefore(string $stored): bool
    {
        $value = 'N;|[bid]:[-\dIN]|[saOCE]:\d+:';
        return ini_get('session.serialize_handler') === 'php_binary'
            && preg_match('~^.[^\x00-\x1f\x7f]{' . ord($stored[0]) . "}(?:$value)~s", $stored) === 1;
    }
}
