<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use FFI;
use FFI\CData;
use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Stream;

/**
 * A stream of libzstd.
 *
 * @internal
 */
final class LibZstdStream implements Stream
{
    private const LEVEL = 100;
    private const ROOM = 1 << 17;

    private FFI $ffi;

    private Pointer $context;

    private CData $room;

    public function __construct(int $level)
    {
        $this->ffi = FFI::cdef(LibZstd::HEADER, LibZstd::SONAME);
        $this->context = new Pointer($this->ffi, $this->ffi->ZSTD_createCCtx(), 'ZSTD_freeCCtx');
        $this->ffi->ZSTD_CCtx_setParameter($this->context->address, self::LEVEL, $level);
        $this->room = $this->ffi->new('char[' . self::ROOM . ']');
    }

    public function add(string $data): string
    {
        return $this->step($data, 0);
    }

    public function flush(): string
    {
        return $this->step('', 1);
    }

    public function finish(): string
    {
        $encoded = $this->step('', 2);
        $this->context->release();
        return $encoded;
    }

    /** @param int $operation the library's number: continue, flush, end */
    private function step(string $data, int $operation): string
    {
        $ffi = $this->ffi;
        $bytes = $ffi->new('char[' . max(1, strlen($data)) . ']');
        FFI::memcpy($bytes, $data, strlen($data));
        $in = $ffi->new('weigh_in');
        [$in->from, $in->size] = [$ffi->cast('void *', FFI::addr($bytes)), strlen($data)];
        $out = $ffi->new('weigh_out');
        [$out->to, $out->size] = [$ffi->cast('void *', FFI::addr($this->room)), self::ROOM];
        [$from, $to, $context] = [FFI::addr($in), FFI::addr($out), $this->context->address];
        $encoded = '';
        do {
            $out->at = 0;
            $left = $ffi->ZSTD_compressStream2($context, $to, $from, $operation);
            if ($ffi->ZSTD_isError($left)) {
                throw new CodecFailure('zstd: the stream could not be continued');
            }
            $encoded .= FFI::string($this->room, $out->at);
        } while ($operation === 0 ? $in->at < $in->size : $left > 0);
        return $encoded;
    }
}
