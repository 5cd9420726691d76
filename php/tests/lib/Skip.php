<?php
/** Thrown by a test that cannot run here: the reason, and whether that is as it should be on most machines. */
final class Skip extends Exception
{
    public $expected;

    public function __construct($reason, $expected = false)
    {
        parent::__construct($reason);
        $this->expected = $expected;
    }
}
