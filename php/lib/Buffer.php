<?php
namespace Weighbridge;

/**
 * C memory that a library writes into, kept between calls and grown when needed.
 *
 * A result still becomes a PHP string by a copy (`FFI::string`): that is what a program that uses FFI pays,
 * so it is inside the measured time. Allocating and clearing the memory at each call would be waste.
 */
final class Buffer
{
    /** The C memory, `char[$size]`. */
    public $bytes;
    public $size = 0;
    private $library;

    /** @param \FFI $library any opened library; only its allocator is used */
    public function __construct($library)
    {
        $this->library = $library;
    }

    /** Makes it hold at least `$size` bytes. */
    public function hold($size)
    {
        if ($size > $this->size || $this->size === 0) {
            $this->bytes = null;
            $this->size = max(1, $size);
            $this->bytes = $this->library->new("char[{$this->size}]");
        }
    }
}
