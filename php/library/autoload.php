<?php

/**
 * Loads the library's classes where Composer does not.
 */

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    $prefix = 'Weighbridge\\Library\\';
    if (strncmp($class, $prefix, strlen($prefix)) !== 0) {
        return;
    }
    $file = __DIR__ . '/src/' . str_replace('\\', '/', substr($class, strlen($prefix))) . '.php';
    if (is_file($file)) {
        require $file;
    }
});
