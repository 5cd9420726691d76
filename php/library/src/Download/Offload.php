<?php

declare(strict_types=1);

namespace Weighbridge\Library\Download;

use Weighbridge\Library\Settings\Downloads;

/** @internal The field by which the web server is asked to send a file. */
final class Offload
{
    /**
     * The field; empty: PHP sends the file.
     *
     * With the method `auto` the server's configuration decides, by the parameter WEIGHBRIDGE_SENDFILE, which no client
     * can set; and mod_xsendfile where PHP is a module of Apache.
     *
     * @param array<mixed> $server `$_SERVER`
     * @return array<string, string>
     */
    public static function fields(Downloads $settings, array $server, File $file): array
    {
        $method = $settings->method === 'auto' ? self::offered($server) : $settings->method;
        if ($method === 'x-accel-redirect' && $settings->prefix !== null) {
            $below = implode('/', array_map('rawurlencode', explode('/', $file->below)));
            return ['X-Accel-Redirect' => rtrim($settings->prefix, '/') . "/$below"];
        }
        $name = ['x-sendfile' => 'X-Sendfile', 'x-lighttpd-send-file' => 'X-LIGHTTPD-send-file'][$method] ?? null;
        if ($name === null) {
            return [];
        }
        // lighttpd decodes percent signs in paths, mod_xsendfile as Debian packages it does not.
        $software = $server['SERVER_SOFTWARE'] ?? '';
        $isDecoded = $method === 'x-lighttpd-send-file' || (is_string($software) && stripos($software, 'lighttpd') === 0);
        return [$name => $isDecoded ? str_replace('%', '%25', $file->path) : $file->path];
    }

    /**
     * The method that the server has.
     *
     * @param array<mixed> $server
     */
    private static function offered(array $server): string
    {
        $named = $server['WEIGHBRIDGE_SENDFILE'] ?? null;
        if ($named === null && function_exists('apache_get_modules')) {
            return in_array('mod_xsendfile', apache_get_modules(), true) ? 'x-sendfile' : 'stream';
        }
        return is_string($named) ? strtolower($named) : 'stream';
    }
}
