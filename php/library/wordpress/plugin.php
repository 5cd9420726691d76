<?php

/**
 * Plugin Name: Weighbridge
 * Description: Sends pages with zstd, Brotli or gzip, as a measured policy says or by safe defaults.
 * License: MIT
 *
 * Written by the library's bin/build-wordpress, with the library in a folder beside it. It goes into
 * wp-content/mu-plugins, and reads wp-content/weighbridge.php, the settings' file, where there is one. Tools, Weighbridge
 * and `wp weighbridge` say whether it encodes pages.
 */

declare(strict_types=1);

namespace Weighbridge\Library\WordPress;

use Throwable;
use Weighbridge\Library\OutputHandler;
use Weighbridge\Library\Settings;

if (!\defined('ABSPATH') || !\function_exists('add_action')) {
    return;
}
if (!\class_exists(OutputHandler::class)) {
    require \substr(__FILE__, 0, -4) . '/autoload.php';
}

/** The settings' file. */
function settings(): string
{
    return (\defined('WP_CONTENT_DIR') ? (string) \constant('WP_CONTENT_DIR') : \dirname(__DIR__)) . '/weighbridge.php';
}

/** Why the handler is not the outermost one of this request; null where it is. */
function obstacle(): ?string
{
    $names = \array_column(\ob_get_status(true), 'name');
    if ((int) \ini_get('output_buffering') > 0 && ($names[0] ?? '') === 'default output handler') {
        \array_shift($names);
    }
    $outermost = $names[0] ?? '';
    if ($outermost === OutputHandler::class . '::__invoke') {
        return null;
    }
    try {
        Settings::load(settings());
    } catch (Throwable $error) {
        return $error->getMessage();
    }
    if ($outermost === '') {
        return 'the page was begun before it';
    }
    $dropIn = \defined('WP_CACHE') && \constant('WP_CACHE') ? ', perhaps of wp-content/advanced-cache.php,' : '';
    return "the output buffer $outermost$dropIn was opened before it; start the handler in wp-config.php: see README.md";
}

/** What the site's front page is sent with, as somebody without a cookie gets it. */
function answer(): string
{
    $accepted = ['headers' => ['Accept-Encoding' => 'zstd, br, gzip'], 'decompress' => false, 'timeout' => 10];
    $response = \wp_remote_get(\home_url('/'), $accepted);
    if (\is_wp_error($response)) {
        return 'The front page could not be fetched: ' . $response->get_error_message();
    }
    $coding = \wp_remote_retrieve_header($response, 'content-encoding');
    return 'The front page is sent ' . ($coding === '' ? 'as it is, not encoded.' : "with $coding.");
}

// Before all other plugins, so that what their buffers give out is encoded, too.
\add_action('muplugins_loaded', static function (): void {
    if (PHP_SAPI !== 'cli' && !(\defined('DOING_CRON') && \constant('DOING_CRON'))) {
        OutputHandler::start(settings());
    }
}, 0);
\add_action('admin_menu', static function (): void {
    \add_management_page('Weighbridge', 'Weighbridge', 'manage_options', 'weighbridge', static function (): void {
        $obstacle = obstacle();
        $first = $obstacle === null ? 'It encodes the pages of this site.' : "It encodes no page: $obstacle.";
        echo '<div class="wrap"><h1>Weighbridge</h1><p>', \esc_html($first), '</p><p>', \esc_html(answer()), '</p></div>';
    });
});
if (\defined('WP_CLI') && \constant('WP_CLI')) {
    \WP_CLI::add_command('weighbridge', static function (): void {
        \WP_CLI::line(answer());
        try {
            Settings::load(settings());
        } catch (Throwable $error) {
            \WP_CLI::error($error->getMessage());
        }
        if (\defined('WP_CACHE') && \constant('WP_CACHE')) {
            \WP_CLI::warning('wp-content/advanced-cache.php runs first; start the handler in wp-config.php: see README.md.');
        }
    });
}
