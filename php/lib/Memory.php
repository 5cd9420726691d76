<?php
namespace Weighbridge;

/**
 * The peak of resident memory during one operation, as the kernel sees it: PHP's own count misses what a C
 * library takes. Linux only; null elsewhere.
 */
final class Memory
{
    /**
     * @param callable $operation called once
     * @return int|null bytes above what was resident before it
     */
    public static function peakOf($operation)
    {
        self::settle();
        if (!self::resetPeak()) {
            return null;
        }
        $before = self::status('VmRSS');
        call_user_func($operation);
        $peak = self::status('VmHWM');
        return $before === null || $peak === null ? null : max(0, $peak - $before);
    }

    /** Gives back what earlier operations left in allocators' caches, for it would hide what this one takes. */
    private static function settle()
    {
        gc_collect_cycles();
        if (function_exists('gc_mem_caches')) {
            gc_mem_caches();
        }
        if (PHP_VERSION_ID >= 70400 && class_exists('FFI', false)) {
            try {
                \FFI::cdef('int malloc_trim(size_t pad);')->malloc_trim(0);
            } catch (\Throwable $error) {
                // Only the GNU C library has it, and the figure stands without it, a little lower.
                unset($error);
            }
        }
    }

    private static function resetPeak()
    {
        return is_writable('/proc/self/clear_refs') && file_put_contents('/proc/self/clear_refs', '5') === 1;
    }

    private static function status($field)
    {
        $status = is_readable('/proc/self/status') ? file_get_contents('/proc/self/status') : '';
        return preg_match("/^$field:\s+(\d+) kB/m", $status, $match) ? $match[1] * 1024 : null;
    }
}
