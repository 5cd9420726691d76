<?php

/**
 * Buffers that others opened before the handler: what they were given is what the page says.
 */

declare(strict_types=1);

$keep = static function (string $content): string {
    file_put_contents($_GET['kept'], $content, FILE_APPEND);
    return $content;
};
switch ($_GET['below']) {
    case 'closure':
        // A page cache of the usual form.
        ob_start($keep);
        break;
    case 'plain':
        ob_start();
        $level = ob_get_level();
        register_shutdown_function(static function () use ($keep, $level): void {
            while (ob_get_level() > $level) {
                ob_end_flush();
            }
            echo $keep((string) ob_get_clean());
        });
        break;
    case 'bytes':
        ob_start();
        echo 'bytes before';
        break;
}
