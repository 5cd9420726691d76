<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use FFI;
use FFI\CData;

/** Content for a streaming function, which moves a pointer along it. */
final class Input
{
    /** A `size_t`: the bytes that are left. */
    public CData $size;

    /** A `const char *`: where they begin. */
    public CData $next;

    /** Keeps the bytes alive. */
    private CData $bytes;

    public function __construct(FFI $ffi, string $data)
    {
        $length = strlen($data);
        $this->bytes = $ffi->new('char[' . max(1, $length) . ']');
        FFI::memcpy($this->bytes, $data, $length);
        $this->size = $ffi->new('size_t');
        $this->size->cdata = $length;
        $this->next = $ffi->cast('const char *', $this->bytes);
    }
}
