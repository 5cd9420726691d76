<?php

declare(strict_types=1);

namespace Weighbridge\Library\Binding;

use FFI;
use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Stream;

/** libzstd through FFI. */
final class LibZstd implements Binding
{
    private const SONAME = 'libzstd.so.1';
    private const HEADER = '
        typedef struct { const void *from; size_t size; size_t at; } weigh_in;
        typedef struct { void *to; size_t size; size_t at; } weigh_out;
        size_t ZSTD_compressBound(size_t size);
        unsigned ZSTD_isError(size_t code);
        const char *ZSTD_getErrorName(size_t code);
        void *ZSTD_createCCtx(void);
        size_t ZSTD_freeCCtx(void *context);
        size_t ZSTD_compressCCtx(void *context, char *to, size_t room, const char *from, size_t size, int level);
        void *ZSTD_createCDict(const char *from, size_t size, int level);
        size_t ZSTD_freeCDict(void *dictionary);
        size_t ZSTD_compress_usingCDict(void *context, char *to, size_t room, const char *from, size_t size,
            const void *dictionary);
        size_t ZSTD_CCtx_setParameter(void *context, int parameter, int value);
        size_t ZSTD_compressStream2(void *context, weigh_out *out, weigh_in *in, int operation);
        void *ZSTD_createDCtx(void);
        size_t ZSTD_freeDCtx(void *context);
        void *ZSTD_createDDict(const char *from, size_t size);
        size_t ZSTD_freeDDict(void *dictionary);
        size_t ZSTD_decompressDCtx(void *context, char *to, size_t room, const char *from, size_t size);
        size_t ZSTD_decompress_usingDDict(void *context, char *to, size_t room, const char *from, size_t size,
            const void *dictionary);
        size_t ZSTD_decompressStream(void *context, weigh_out *out, weigh_in *in);
    ';
    private const PARAMETER_LEVEL = 100;
    private const ROOM = 1 << 17;

    /** @var array<string, array{string, int, Pointer}> by direction: a dictionary, its level, and what was made of it */
    private array $digested = [];

    /** Whether the script has ended: what is made from here on is not kept. */
    private bool $isEnding = false;

    public function __destruct()
    {
        $this->isEnding = true;
        foreach ($this->digested as [, , $made]) {
            $made->release();
        }
        $this->digested = [];
    }

    public function name(): string
    {
        return 'libzstd through FFI';
    }

    public function encodesAs(string $encoder): bool
    {
        return $encoder === 'zstd';
    }

    public function can(string $coding, int $what): bool
    {
        return $coding === 'zstd' && Library::open(self::SONAME, self::HEADER) !== null;
    }

    public function encode(string $data, string $coding, int $level, ?string $dictionary): string
    {
        $ffi = self::opened();
        $context = new Pointer($ffi, $ffi->ZSTD_createCCtx(), 'ZSTD_freeCCtx');
        $size = strlen($data);
        $room = (int) $ffi->ZSTD_compressBound($size);
        $buffer = $ffi->new("char[$room]");
        try {
            if ($dictionary === null) {
                $length = $ffi->ZSTD_compressCCtx($context->address, $buffer, $room, $data, $size, $level);
            } else {
                $digested = $this->digested($dictionary, $level);
                $made = $digested->address;
                $length = $ffi->ZSTD_compress_usingCDict($context->address, $buffer, $room, $data, $size, $made);
                $this->leave($digested);
            }
        } finally {
            $context->release();
        }
        return FFI::string($buffer, self::checked($ffi, $length));
    }

    public function decode(string $data, string $coding, int $maxBytes, ?string $dictionary): string
    {
        $ffi = self::opened();
        $size = ZstdFrame::contentSize($data);
        if ($size !== null && $size > $maxBytes) {
            throw new CodecFailure("zstd: $size bytes, more than $maxBytes");
        }
        if ($size === null) {
            return self::decodeUnsized($ffi, $data, $maxBytes, $dictionary);
        }
        $context = new Pointer($ffi, $ffi->ZSTD_createDCtx(), 'ZSTD_freeDCtx');
        $length = strlen($data);
        try {
            $buffer = $ffi->new('char[' . max(1, $size) . ']');
            if ($dictionary === null) {
                $code = $ffi->ZSTD_decompressDCtx($context->address, $buffer, $size, $data, $length);
            } else {
                $digested = $this->digested($dictionary, null);
                $made = $digested->address;
                $code = $ffi->ZSTD_decompress_usingDDict($context->address, $buffer, $size, $data, $length, $made);
                $this->leave($digested);
            }
        } finally {
            $context->release();
        }
        return FFI::string($buffer, self::checked($ffi, $code));
    }

    public function stream(string $coding, int $level): Stream
    {
        $ffi = self::opened();
        $context = new Pointer($ffi, $ffi->ZSTD_createCCtx(), 'ZSTD_freeCCtx');
        self::checked($ffi, $ffi->ZSTD_CCtx_setParameter($context->address, self::PARAMETER_LEVEL, $level));
        $room = $ffi->new('char[' . self::ROOM . ']');
        return new Pieces(static function (string $data, int $operation) use ($ffi, $context, $room): string {
            [$in, $bytes] = self::input($ffi, $data);
            $encoded = '';
            do {
                $out = self::output($ffi, $room);
                // The operations have the library's numbers: continue, flush, end.
                $left = self::checked(
                    $ffi,
                    $ffi->ZSTD_compressStream2($context->address, FFI::addr($out), FFI::addr($in), $operation)
                );
                $encoded .= FFI::string($room, $out->at);
            } while ($operation === Pieces::ADD ? $in->at < $in->size : $left > 0);
            unset($bytes);
            if ($operation === Pieces::FINISH) {
                $context->release();
            }
            return $encoded;
        });
    }

    /** Decodes a frame that does not state its size, piece by piece. */
    private static function decodeUnsized(FFI $ffi, string $data, int $maxBytes, ?string $dictionary): string
    {
        if ($dictionary !== null) {
            throw new CodecFailure('zstd: the frame does not state its size');
        }
        // A context of its own: one that stopped in the middle of a frame would go on there.
        $context = new Pointer($ffi, $ffi->ZSTD_createDCtx(), 'ZSTD_freeDCtx');
        [$in, $bytes] = self::input($ffi, $data);
        $room = $ffi->new('char[' . self::ROOM . ']');
        $decoded = '';
        do {
            $out = self::output($ffi, $room);
            $left = $ffi->ZSTD_decompressStream($context->address, FFI::addr($out), FFI::addr($in));
            if ($ffi->ZSTD_isError($left)) {
                break;
            }
            $decoded .= FFI::string($room, $out->at);
        } while (strlen($decoded) <= $maxBytes && ($in->at < $in->size || $out->at === $out->size));
        unset($bytes);
        $context->release();
        if ($left !== 0) {
            throw new CodecFailure("zstd: the content is corrupt, cut short, or larger than $maxBytes bytes");
        }
        return $decoded;
    }

    /**
     * The library's input of these bytes, and what keeps them alive.
     *
     * @return array{FFI\CData, FFI\CData}
     */
    private static function input(FFI $ffi, string $data): array
    {
        $bytes = $ffi->new('char[' . max(1, strlen($data)) . ']');
        FFI::memcpy($bytes, $data, strlen($data));
        $in = $ffi->new('weigh_in');
        $in->from = $ffi->cast('void *', FFI::addr($bytes));
        $in->size = strlen($data);
        return [$in, $bytes];
    }

    private static function output(FFI $ffi, FFI\CData $room): FFI\CData
    {
        $out = $ffi->new('weigh_out');
        $out->to = $ffi->cast('void *', FFI::addr($room));
        $out->size = self::ROOM;
        return $out;
    }

    /** What the library made of a dictionary: for encoding at a level, or for decoding. Only the last one is kept. */
    private function digested(string $dictionary, ?int $level): Pointer
    {
        $ffi = self::opened();
        $direction = $level === null ? 'decode' : 'encode';
        $kept = $this->digested[$direction] ?? null;
        if ($kept !== null && $kept[0] === $dictionary && $kept[1] === (int) $level) {
            return $kept[2];
        }
        $size = strlen($dictionary);
        $made = $level === null
            ? new Pointer($ffi, $ffi->ZSTD_createDDict($dictionary, $size), 'ZSTD_freeDDict')
            : new Pointer($ffi, $ffi->ZSTD_createCDict($dictionary, $size, $level), 'ZSTD_freeCDict');
        if (!$this->isEnding) {
            $this->digested[$direction] = [$dictionary, (int) $level, $made];
        }
        return $made;
    }

    /** Frees what `digested()` gave unless it is kept. */
    private function leave(Pointer $digested): void
    {
        if ($this->isEnding) {
            $digested->release();
        }
    }

    private static function checked(FFI $ffi, int $code): int
    {
        if ($ffi->ZSTD_isError($code)) {
            throw new CodecFailure('zstd: ' . $ffi->ZSTD_getErrorName($code));
        }
        return $code;
    }

    private static function opened(): FFI
    {
        $ffi = Library::open(self::SONAME, self::HEADER);
        if ($ffi === null) {
            throw new CodecFailure(self::SONAME . ' cannot be opened');
        }
        return $ffi;
    }
}
