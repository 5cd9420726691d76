<?php
namespace Weighbridge\Aerospike;

/**
 * Why an operation failed, in one line. Its code is the server's result code, or 0 where there was none: the
 * connection broke, the answer was no answer, or the value cannot be stored.
 */
final class Failure extends \RuntimeException
{
    const LONGEST = 300;

    /** @param string $message may quote what a server sent: unprintable bytes and length are taken out here */
    public function __construct($message, $code = 0)
    {
        $line = preg_replace('/[^\x20-\x7e]+/', ' ', substr($message, 0, self::LONGEST));
        parent::__construct(strlen($message) > self::LONGEST ? "$line ..." : $line, $code);
    }
}
