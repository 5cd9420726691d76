<?php
namespace Weighbridge;

/** SHA-256 of a list of texts, one after the other. */
final class Digest
{
    /** @return string hexadecimal */
    public static function of(array $texts)
    {
        // Before PHP 7.4 the hash extension could be left out of a build.
        if (!function_exists('hash_init')) {
            throw new Fault('missing', 'this PHP has no hash extension, so that content cannot be verified');
        }
        $context = hash_init('sha256');
        foreach ($texts as $text) {
            hash_update($context, $text);
        }
        return hash_final($context);
    }
}
