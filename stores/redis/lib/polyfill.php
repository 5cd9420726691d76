<?php
/**
 * The one function of PHP 8 that Symfony's cache calls where something failed: in a PHP before 8 it comes with a package
 * of Symfony's that Debian leaves out.
 */

if (!function_exists('get_debug_type')) {
    function get_debug_type($value)
    {
        return is_object($value) ? get_class($value) : gettype($value);
    }
}
