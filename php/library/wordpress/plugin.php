<?php

/**
 * Plugin Name: Weighbridge
 * Description: Sends pages with zstd, Brotli or gzip, as a measured policy says or by safe defaults.
 * License: MIT
 *
 * Built from the library by bin/build-wordpress. It goes into wp-content/mu-plugins, and reads
 * wp-content/weighbridge.php, the settings' file, where there is one.
 */

declare(strict_types=1);

namespace Weighbridge\Library\WordPress;

use Weighbridge\Library\OutputHandler;

// Before all other plugins, so that what their buffers give out is encoded, too.
if (\defined('ABSPATH') && \function_exists('add_action') && PHP_SAPI !== 'cli') {
    \add_action('muplugins_loaded', static function (): void {
        if (!\defined('DOING_CRON') || !\constant('DOING_CRON')) {
            $folder = \defined('WP_CONTENT_DIR') ? (string) \constant('WP_CONTENT_DIR') : \dirname(__DIR__);
            OutputHandler::start("$folder/weighbridge.php");
        }
    }, 0);
}
