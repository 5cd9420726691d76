<?php

declare(strict_types=1);

namespace Weighbridge\Library\Download;

use Weighbridge\Library\Settings\Downloads;

/** The field by which the web server is told to send a file. */
final class Offload
{
    private string $method;

    private string $prefix;

    /** lighttpd decodes percent signs in paths, mod_xsendfile as Debian packages it does not. */
    private bool $isDecoded;

    private function __construct(string $method, string $prefix, bool $isDecoded)
    {
        $this->method = $method;
        $this->prefix = $prefix;
        $this->isDecoded = $isDecoded;
    }

    /**
     * How the server sends files; null: PHP does.
     *
     * With the method `auto` the server's configuration decides, by the parameter WEIGHBRIDGE_SENDFILE, which no client
     * can set; and mod_xsendfile where PHP is a module of Apache.
     *
     * @param array<mixed> $server `$_SERVER`
     */
    public static function of(Downloads $settings, array $server): ?self
    {
        $method = $settings->method;
        if ($method === Downloads::AUTO) {
            $named = $server['WEIGHBRIDGE_SENDFILE'] ?? null;
            $method = is_string($named) ? strtolower($named) : Downloads::STREAM;
            if ($named === null && function_exists('apache_get_modules')) {
                $has = in_array('mod_xsendfile', apache_get_modules(), true);
                $method = $has ? Downloads::SENDFILE : Downloads::STREAM;
            }
        }
        $isKnown = in_array($method, [Downloads::ACCEL, Downloads::SENDFILE, Downloads::LIGHTTPD], true);
        if (!$isKnown || ($method === Downloads::ACCEL && $settings->prefix === null)) {
            return null;
        }
        $software = $server['SERVER_SOFTWARE'] ?? '';
        $isDecoded = $method === Downloads::LIGHTTPD || (is_string($software) && stripos($software, 'lighttpd') === 0);
        return new self($method, rtrim((string) $settings->prefix, '/'), $isDecoded);
    }

    /** @return array<string, string> */
    public function fields(File $file): array
    {
        if ($this->method === Downloads::ACCEL) {
            $below = implode('/', array_map('rawurlencode', explode('/', $file->below)));
            return ['X-Accel-Redirect' => "{$this->prefix}/$below"];
        }
        $name = $this->method === Downloads::SENDFILE ? 'X-Sendfile' : 'X-LIGHTTPD-send-file';
        return [$name => $this->isDecoded ? str_replace('%', '%25', $file->path) : $file->path];
    }
}
