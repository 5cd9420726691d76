<?php
namespace Weighbridge;

/** What stands in a driver's place while there is no connection: everything fails with the reason. */
final class Down
{
    private $reason;

    public function __construct($reason)
    {
        $this->reason = $reason;
    }

    public function put()
    {
        throw new \RuntimeException($this->reason);
    }

    public function get()
    {
        throw new \RuntimeException($this->reason);
    }
}
