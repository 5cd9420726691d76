<?php
namespace Weighbridge;

/** A C pointer that is given back to its library when nobody holds it any more. */
final class Owned
{
    /** The pointer, as FFI has it. */
    public $pointer;
    private $release;

    /**
     * @param mixed    $pointer null when the library had no memory for it
     * @param \Closure $release called once with the pointer
     */
    public function __construct($pointer, \Closure $release)
    {
        if ($pointer === null) {
            throw new Fault('codec', 'the library could not allocate what it works with');
        }
        $this->pointer = $pointer;
        $this->release = $release;
    }

    public function __destruct()
    {
        // A constructor that threw leaves nothing to release, and neither does one that was never run (unserialize).
        if ($this->release instanceof \Closure) {
            call_user_func($this->release, $this->pointer);
        }
    }
}
