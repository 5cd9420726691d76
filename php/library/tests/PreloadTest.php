<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests;

use PHPUnit\Framework\TestCase;
use Weighbridge\Library\Tests\Support\Frameworks;
use Weighbridge\Library\Tests\Support\Server;

/** What preload.php opens to the site's own code. */
final class PreloadTest extends TestCase
{
    public function testFfiIsForTheCodecsAlone(): void
    {
        if (!extension_loaded('Zend OPcache') || !extension_loaded('FFI')) {
            Frameworks::skip('this PHP has no opcache or no FFI', true);
        }
        $server = new Server(self::settings());
        $found = json_decode($server->get('/ffi.php')->body, true);
        self::assertIsArray($found, $server->log());
        self::assertSame([], $found['reached']);
        self::assertGreaterThan(50, $found['tried']);
        self::assertSame(['libzstd through FFI', 'content'], [$found['binding'], $found['content']]);
        self::assertContains('Weighbridge\Library\Binding\Libraries', $found['preloaded']);
        self::assertNotContains('Weighbridge\Library\OutputHandler', $found['preloaded']);
    }

    /**
     * What php.ini has, as preload.php says.
     *
     * @return array<string, string>
     */
    public static function settings(): array
    {
        $user = posix_getpwuid(posix_geteuid());
        self::assertIsArray($user);
        return [
            'opcache.enable' => '1',
            'opcache.preload' => __DIR__ . '/../preload.php',
            'opcache.preload_user' => $user['name'],
            'ffi.enable' => 'preload',
        ];
    }
}
