<?php
namespace Weighbridge;

/**
 * The peak of resident memory during one operation, as the kernel sees it: PHP's own count misses what a C
 * library takes. Linux only; null elsewhere.
 */
final class Memory
{
    /**
     * Kernels from 6.2 on keep the count from which the peak comes in parts a processor, so that it may be off by
     * a quarter of a megabyte; what is resident before and after is taken from the exact source.
     *
     * @param callable $operation called once; what it returns is held until the figures are read
     * @return int|null bytes above what was resident before it; null where what earlier operations left cannot be given
     *     back: it would serve the operation, which would then seem to take nothing
     */
    public static function peakOf($operation)
    {
        if (!self::settles()) {
            return null;
        }
        $filled = self::fillHeap();
        if (!self::resetPeak()) {
            return null;
        }
        $before = self::resident();
        $result = call_user_func($operation);
        $after = self::resident();
        $peak = self::field('/proc/self/status', 'VmHWM');
        unset($filled, $result);
        return $before === null || $peak === null ? null : max(0, $peak - $before, $after - $before);
    }

    /**
     * Gives back what earlier operations left in allocators' caches, for it would hide what this one takes. PHP's own from 7.0 on;
     * the C library's through FFI, which is there from 7.4 on, and where it is the GNU one.
     *
     * @return bool whether all of it was given back
     */
    public static function settles()
    {
        gc_collect_cycles();
        if (PHP_VERSION_ID < 70400 || !class_exists('FFI', false)) {
            return false;
        }
        gc_mem_caches();
        try {
            \FFI::cdef('int malloc_trim(size_t pad);')->malloc_trim(0);
        } catch (\Throwable $error) {
            return false;
        }
        return true;
    }

    /**
     * Occupies what PHP's allocator holds free: it would serve the operation from pages that are resident
     * already, which the kernel would not count.
     *
     * @return array the blocks, to be held while the operation runs
     */
    private static function fillHeap()
    {
        $blocks = array();
        for ($size = 1 << 20; $size >= 4096; $size >>= 1) {
            $held = memory_get_usage(true);
            // Without this bound it would never end where PHP's allocator is off and holds nothing.
            while ($held - memory_get_usage() >= $size) {
                // A little less than a power of two, so that block and header fill whole pages.
                $block = str_repeat('x', $size - 64);
                if (memory_get_usage(true) > $held) {
                    $block = null;
                    break;
                }
                $blocks[] = $block;
            }
        }
        return $blocks;
    }

    private static function resetPeak()
    {
        return is_writable('/proc/self/clear_refs') && file_put_contents('/proc/self/clear_refs', '5') === 1;
    }

    private static function resident()
    {
        $exact = self::field('/proc/self/smaps_rollup', 'Rss');
        return $exact !== null ? $exact : self::field('/proc/self/status', 'VmRSS');
    }

    /** @return int|null bytes */
    private static function field($file, $name)
    {
        $text = is_readable($file) ? file_get_contents($file) : '';
        return preg_match("/^$name:\s+(\d+) kB/m", $text, $match) ? $match[1] * 1024 : null;
    }
}
