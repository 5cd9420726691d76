<?php
/**
 * The only function of PHP 8 that Symfony's cache calls after a failure: before PHP 8 it comes with a package
 * of Symfony that Debian does not include.
 */

if (!function_exists('get_debug_type')) {
    function get_debug_type($value)
    {
        return is_object($value) ? get_class($value) : gettype($value);
    }
}
