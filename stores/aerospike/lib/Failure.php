<?php
namespace Weighbridge\Aerospike;

/**
 * The connection broke, or what came was no answer, told in one line: the connection is closed and has to be made
 * again. What a server answers, and a value that cannot be stored, is a Fault instead, and the connection goes on.
 */
final class Failure extends \RuntimeException
{
    const LONGEST = 300;

    /** @param string $message may quote what a server sent: unprintable bytes and length are taken out here */
    public function __construct($message)
    {
        $line = preg_replace('/[^\x20-\x7e]+/', ' ', substr($message, 0, self::LONGEST));
        parent::__construct(strlen($message) > self::LONGEST ? "$line ..." : $line);
    }
}
