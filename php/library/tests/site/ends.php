<?php

/**
 * Scripts that end buffers which they did not open, and go on.
 */

declare(strict_types=1);

$closeAll = static function (): void {
    while (ob_get_level() > 0) {
        ob_end_flush();
    }
};
// As WordPress does it.
$closeCounted = static function (): void {
    for ($level = ob_get_level(); $level > 0; $level--) {
        ob_end_flush();
    }
};
switch ($case) {
    case 'all closed':
        echo 'first ', $text;
        $closeAll();
        echo 'second ', $text;
        break;
    case 'all closed at once':
        $closeAll();
        echo 'first ', $text, 'second ', $text;
        break;
    case 'closed once':
        echo 'first ', $text;
        ob_end_flush();
        echo 'second ', $text;
        break;
    case 'taken and sent':
        echo 'first ', $text;
        ob_get_flush();
        echo 'second ', $text;
        break;
    case 'closed after each message':
        foreach (['first ', 'second '] as $message) {
            echo $message, $text;
            $closeCounted();
            flush();
        }
        break;
    case 'closed at the end':
        register_shutdown_function($closeCounted);
        echo 'first ', $text, 'second ', $text;
        break;
    case 'closed at the end, and more':
        register_shutdown_function(static function () use ($closeCounted, $text): void {
            $closeCounted();
            echo 'second ', $text;
        });
        register_shutdown_function($closeCounted);
        echo 'first ', $text;
        break;
    case 'all closed at the end, and more':
        register_shutdown_function(static function () use ($closeAll, $text): void {
            $closeAll();
            echo 'second ', $text;
        });
        echo 'first ', $text;
        break;
    case 'cleaned after the end':
        register_shutdown_function(static function () use ($closeCounted): void {
            $closeCounted();
            while (ob_get_level() > 0) {
                ob_end_clean();
            }
        });
        echo 'first ', $text, 'second ', $text;
        break;
    case 'closed by a destructor':
        $closing = new class ($closeCounted, $text) {
            /** @var Closure(): void */
            private Closure $close;
            private string $text;

            public function __construct(Closure $close, string $text)
            {
                [$this->close, $this->text] = [$close, $text];
            }

            public function __destruct()
            {
                ($this->close)();
                echo 'second ', $this->text;
            }
        };
        echo 'first ', $text;
        break;
    case 'long, closed once':
    case 'long, closed at the end, and more':
        echo 'first ', $text, str_repeat('a long page, ', 50000), 'second ';
        if ($case === 'long, closed once') {
            ob_end_flush();
            echo $text;
            break;
        }
        register_shutdown_function(static function () use ($closeCounted, $text): void {
            $closeCounted();
            echo $text;
        });
        break;
    case 'flushed, closed by a late destructor':
        $closing = new class ($closeCounted) {
            private Closure $close;
            private object $itself;

            public function __construct(Closure $close)
            {
                // Held by itself, it is destructed after the handler.
                [$this->close, $this->itself] = [$close, $this];
            }

            public function __destruct()
            {
                ($this->close)();
            }
        };
        echo 'first ', $text;
        ob_flush();
        flush();
        echo 'second ', $text;
        break;
    case 'flushed, then closed':
        echo 'first ';
        ob_flush();
        flush();
        echo $text;
        ob_end_flush();
        echo 'second ';
        ob_end_flush();
        echo $text;
        break;
}
