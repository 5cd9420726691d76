<?php

/**
 * Loads the library's classes where Composer does not.
 */

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    if (strncmp($class, 'Weighbridge\\Library\\', 20) === 0) {
        // Without a look whether it is there, which opcache knows better.
        @include __DIR__ . '/src/' . strtr(substr($class, 20), '\\', '/') . '.php';
    }
});
