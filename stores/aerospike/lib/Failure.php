<?php
namespace Weighbridge\Aerospike;

/**
 * The connection broke, or the reply was invalid; the message is one line. The connection is closed and must be opened
 * again. An error reply of the server, or a value that cannot be stored, is a Fault instead, and the connection stays open.
 */
final class Failure extends \RuntimeException
{
    const LONGEST = 300;

    /** @param string $message may quote bytes of a server: unprintable bytes are replaced and its length is limited here */
    public function __construct($message)
    {
        $line = preg_replace('/[^\x20-\x7e]+/', ' ', substr($message, 0, self::LONGEST));
        parent::__construct(strlen($message) > self::LONGEST ? "$line ..." : $line);
    }
}
