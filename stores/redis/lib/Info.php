<?php
namespace Weighbridge\Redis;

use Weighbridge\Fault;

/** Parses messages of Redis-compatible servers, the same for all drivers. */
final class Info
{
    /** @return string|null the version in the reply to INFO; for Valkey its own version, not that of the compatible Redis */
    public static function version($info)
    {
        foreach (array('valkey_version', 'redis_version') as $name) {
            if (preg_match("/^$name:([^\\r\\n]{1,40})/m", (string) $info, $match)) {
                return $match[1];
            }
        }
        return null;
    }

    /** @return Fault the failure for an error reply */
    public static function fault($message)
    {
        $remedies = array(
            '/^(NOAUTH|WRONGPASS)|invalid password|without any password|AUTH/i' => 'check the user and password in the URL',
            '/DB index/i' => 'check the number of the database in the URL',
            '/^NOPERM/' => 'give the user of the URL the permission to read, write and delete keys with the run\'s prefix',
            '/^OOM/' => 'raise the server\'s maxmemory, or let it evict (maxmemory-policy)',
            '/^READONLY/' => 'use the primary server; this is a replica',
            '/proto-max-bulk-len|string exceeds/i' => 'the value is over the server\'s limit: raise proto-max-bulk-len or store less',
        );
        foreach ($remedies as $pattern => $remedy) {
            if (preg_match($pattern, $message)) {
                return new Fault('response', $message, $remedy);
            }
        }
        return new Fault('response', $message);
    }
}
