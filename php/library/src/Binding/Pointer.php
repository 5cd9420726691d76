<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use FFI;
use FFI\CData;

/**
 * @internal What a library allocated. Freed by `release()`, or with this object.
 *
 * At the end of a script PHP destructs all objects, and calls output handlers and session handlers after that. An object
 * that is destructed then is kept: it is in use, and its user releases it.
 */
final class Pointer
{
    /** Whether the script has ended; null: not watched for yet. */
    public static ?bool $isEnding = null;

    public CData $address;

    private FFI $ffi;

    /** The library's function that takes the address back; empty: it has it. */
    private string $free = '';

    public function __construct(FFI $ffi, CData $address, string $free)
    {
        [$this->ffi, $this->address, $this->free] = [$ffi, $address, $free];
        if (self::$isEnding === null) {
            self::$isEnding = false;
            register_shutdown_function(static function (): void {
                self::$isEnding = true;
            });
        }
    }

    public function __destruct()
    {
        if (self::$isEnding !== true) {
            $this->release();
        }
    }

    /** Frees it; it is not used again. */
    public function release(): void
    {
        [$free, $this->free] = [$this->free, ''];
        if ($free !== '') {
            $this->ffi->$free($this->address);
        }
    }
}
