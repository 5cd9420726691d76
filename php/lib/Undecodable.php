<?php
namespace Weighbridge;

/** What a read gives where the store's bytes could not be decoded: a wrong value with a reason, equal to no value. */
final class Undecodable
{
    /** One line. */
    public $reason;

    /** @param \Exception|\Throwable $error */
    public function __construct($error)
    {
        $this->reason = 'what was read cannot be decoded: ' . $error->getMessage();
    }
}
