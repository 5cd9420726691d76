<?php

/**
 * What WordPress does in a request as far as plugins see it, with its own functions for plugins: loads those that must
 * be used, runs its actions, prints the page, and ends all buffers.
 */

declare(strict_types=1);

define('ABSPATH', __DIR__ . '/');
define('WP_CONTENT_DIR', (string) getenv('WEIGHBRIDGE_CONTENT'));
require getenv('WEIGHBRIDGE_WORDPRESS') . '/wp-includes/plugin.php';
foreach (glob(WP_CONTENT_DIR . '/mu-plugins/*.php') ?: [] as $plugin) {
    include $plugin;
}
add_action('shutdown', static function (): void {
    for ($level = ob_get_level(); $level > 0; $level--) {
        ob_end_flush();
    }
}, 1);
register_shutdown_function('do_action', 'shutdown');
do_action('muplugins_loaded');
do_action('plugins_loaded');
ob_start(static function (string $content): string {
    return strtoupper($content);
});
echo str_repeat("a line of the page, with some words in it.\n", 200);
