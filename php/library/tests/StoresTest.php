<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests;

use ArrayObject;
use Illuminate\Cache\ArrayStore;
use Illuminate\Cache\CacheManager;
use Illuminate\Cache\Repository as Cache;
use Illuminate\Config\Repository;
use Illuminate\Container\Container;
use Memcached;
use PHPUnit\Framework\TestCase;
use Psr\SimpleCache\CacheInterface;
use Symfony\Component\Cache\Adapter\ArrayAdapter;
use Symfony\Component\Cache\Psr16Cache;
use Weighbridge\Library\CodecFailure;
use Weighbridge\Library\Envelope;
use Weighbridge\Library\Laravel\EncodedStore;
use Weighbridge\Library\Laravel\WeighbridgeServiceProvider;
use Weighbridge\Library\Psr16\EncodedCache;
use Weighbridge\Library\Settings;
use Weighbridge\Library\Tests\Support\Frameworks;
use Weighbridge\Library\Tests\Support\Server;

/** Encoded values in the caches and sessions of others. */
final class StoresTest extends TestCase
{
    private static string $text = '';

    public static function setUpBeforeClass(): void
    {
        self::$text = str_repeat('some words ', 300);
    }

    public function testValuesOfEveryType(): void
    {
        foreach (extension_loaded('igbinary') ? ['serialize', 'igbinary'] : ['serialize'] as $serializer) {
            $envelope = new Envelope(Settings::fromArray(['value' => ['serializer' => $serializer]]));
            foreach ([self::$text, '', null, false, true, 0, 1.5, [1, ['a' => null]], new ArrayObject([1, 2])] as $value) {
                // What one server's PHP serialized, another's with the other setting reads.
                self::assertEquals($value, (new Envelope())->openValue($envelope->sealValue($value)));
            }
            self::assertSame($serializer === 'serialize', $envelope->open($envelope->sealValue(1)) === 'i:1;');
        }
    }

    public function testAValueThatCannotBeUnserialized(): void
    {
        $envelope = new Envelope();
        foreach (['', 'no serialized value', 'O:9:"Throwable":0:{}', 'O:7:"Closure":0:{}'] as $serialized) {
            try {
                $envelope->openValue($envelope->seal($serialized));
                self::fail("$serialized was unserialized");
            } catch (CodecFailure $failure) {
                self::assertStringContainsString('cannot be unserialized', $failure->getMessage());
            }
        }
    }

    public function testASerializerThatThisPhpLacksIsAnError(): void
    {
        $code = 'require $argv[1]; use Weighbridge\Library\{Envelope, Settings};'
            . 'try { (new Envelope(Settings::fromArray(["value" => ["serializer" => "igbinary"]])))->sealValue(1); }'
            . 'catch (Weighbridge\Library\WeighbridgeException $exception) { echo $exception->getMessage(), "\n"; }'
            . 'try { (new Envelope())->openValue((new Envelope())->seal("\0\0\0\2\0")); }'
            . 'catch (Weighbridge\Library\WeighbridgeException $exception) { echo $exception->getMessage(); }';
        $command = str_replace('extension=igbinary', 'precision=14', Server::php());
        array_push($command, in_array('-n', $command, true) ? '-q' : '-n', '-r', $code, '--', __DIR__ . '/../autoload.php');
        exec(implode(' ', array_map('escapeshellarg', $command)) . ' 2>&1', $lines);
        self::assertSame([
            'value.serializer is igbinary, which this PHP (cli) does not have',
            'the stored value is one of igbinary, which this PHP does not have',
        ], $lines);
    }

    public function testACacheOfPsr16(): void
    {
        if (PHP_VERSION_ID < 80000) {
            Frameworks::skip('psr-16: it needs PHP 8', true);
        }
        Frameworks::need('psr-16', CacheInterface::class);
        Frameworks::need('symfony cache', Psr16Cache::class);
        $inner = new Psr16Cache(new ArrayAdapter());
        $cache = new EncodedCache($inner);
        self::assertTrue($cache->set('text', self::$text));
        self::assertSame(self::$text, $cache->get('text'));
        self::assertLessThan(200, strlen((string) $inner->get('text')));
        self::assertTrue($cache->setMultiple(['null' => null, 'rows' => [1, 2], 'gone' => 1], 60));
        self::assertTrue($cache->deleteMultiple(['gone']));
        self::assertSame(['null' => null, 'rows' => [1, 2], 'gone' => 'default'], self::listed(
            $cache->getMultiple(['null', 'rows', 'gone'], 'default')
        ));
        self::assertSame([true, false], [$cache->has('rows'), $cache->has('gone')]);
        // What was there before, and what cannot be read.
        $cut = substr((string) $inner->get('text'), 0, -1);
        $inner->setMultiple(['before' => [3], 'plain' => 'plain', 'corrupt' => $cut]);
        self::assertSame([[3], 'plain'], [$cache->get('before'), $cache->get('plain')]);
        self::assertSame('miss', $cache->get('corrupt', 'miss'));
        self::assertSame(['corrupt' => 'miss'], self::listed($cache->getMultiple(['corrupt'], 'miss')));
        self::assertTrue($cache->delete('text'));
        self::assertNull($cache->get('text'));
        self::assertTrue($cache->clear());
        self::assertFalse($cache->has('rows'));
    }

    public function testAStoreOfLaravel(): void
    {
        Frameworks::need('laravel cache', ArrayStore::class);
        $inner = new ArrayStore();
        $store = new EncodedStore($inner);
        self::assertTrue($store->put('text', self::$text, 60));
        self::assertSame(self::$text, $store->get('text'));
        self::assertLessThan(200, strlen((string) $inner->get('text')));
        self::assertTrue($store->forever('null', null));
        self::assertTrue($store->putMany(['rows' => [1, 2], 'count' => 3], 60));
        $inner->put('before', ['a'], 60);
        $inner->put('corrupt', substr((string) $inner->get('text'), 0, -1), 60);
        $keys = ['null', 'rows', 'count', 'before', 'corrupt', 'absent'];
        self::assertSame(array_combine($keys, [null, [1, 2], 3, ['a'], null, null]), $store->many($keys));
        self::assertSame([5, 4, 5], [$store->increment('count', 2), $store->decrement('count'), $store->increment('count')]);
        self::assertTrue($store->lock('lock', 10)->get());
        self::assertFalse($store->lock('lock', 10)->get());
        $lock = $store->lock('another', 10);
        self::assertTrue($lock->get());
        self::assertTrue($store->restoreLock('another', $lock->owner())->release());
        self::assertSame('', $store->getPrefix());
        self::assertTrue($store->forget('text'));
        self::assertNull($store->get('text'));
        self::assertTrue($store->flush());
        self::assertNull($store->get('rows'));
    }

    public function testWhatIsAddedToAStoreOfLaravel(): void
    {
        Frameworks::need('laravel cache', ArrayStore::class);
        $atomic = new class extends ArrayStore {
            /** @var list<mixed> */
            public array $added = [];

            public function add($key, $value, $seconds)
            {
                $this->added[] = $value;
                return $this->get($key) === null && $this->put($key, $value, $seconds);
            }
        };
        foreach ([$atomic, new ArrayStore()] as $inner) {
            $cache = new Cache(new EncodedStore($inner));
            self::assertTrue($cache->add('text', self::$text, 60));
            self::assertFalse($cache->add('text', 'another', 60));
            self::assertSame(self::$text, $cache->get('text'));
            self::assertTrue($cache->add('count', 1, 60));
            self::assertSame(2, $cache->increment('count'));
            self::assertTrue(Envelope::isSealed((string) $inner->get('text')));
        }
        // The store itself sees to it that one of two wins.
        self::assertCount(3, $atomic->added);
        self::assertSame(1, $atomic->added[2]);
    }

    public function testAProviderOfLaravel(): void
    {
        Frameworks::need('laravel cache', ArrayStore::class);
        Frameworks::need('laravel config', Repository::class);
        Frameworks::need('laravel container', Container::class);
        $stores = ['array' => ['driver' => 'array'], 'encoded' => ['driver' => 'weighbridge', 'store' => 'array']];
        $stores['others'] = ['driver' => 'array'];
        $cache = ['default' => 'others', 'stores' => $stores];
        $config = ['cache' => $cache, 'weighbridge' => ['value' => ['min_bytes' => 7]]];
        $application = new Container();
        $application->instance('config', new Repository($config));
        $application->singleton('cache', static function (Container $application): CacheManager {
            return new CacheManager($application);
        });
        (new WeighbridgeServiceProvider($application))->register();
        self::assertSame(7, $application->make(Settings::class)->value['minBytes']);
        $cache = $application->make('cache');
        $cache->store('encoded')->put('text', self::$text, 60);
        self::assertSame(self::$text, $cache->store('encoded')->get('text'));
        self::assertTrue(Envelope::isSealed((string) $cache->store('array')->get('text')));
        self::assertNull($cache->store('others')->get('text'));
        // Without a file of settings.
        $application = new Container();
        $application->instance('config', new Repository());
        (new WeighbridgeServiceProvider($application))->register();
        self::assertEquals(Settings::defaults(), $application->make(Settings::class));
    }

    public function testSessionsInPhpsOwnFiles(): void
    {
        $folder = sys_get_temp_dir() . '/weighbridge-' . bin2hex(random_bytes(6));
        mkdir($folder, 0700);
        putenv("WEIGHBRIDGE_SESSIONS=$folder");
        // One request of a hundred would remove the session whose time is set back here.
        $server = new Server(['session.use_strict_mode' => '1', 'session.gc_probability' => '0']);
        $cookie = static function (string $id): array {
            return ['Cookie' => "PHPSESSID=$id"];
        };
        try {
            $id = str_repeat('a', 32);
            file_put_contents("$folder/sess_$id", 'count|i:7;');
            self::assertSame("$id 8", $server->get('/session.php', $cookie($id))->body);
            self::assertTrue(Envelope::isSealed((string) file_get_contents("$folder/sess_$id")));
            self::assertSame("$id 9", $server->get('/session.php', $cookie($id))->body);
            // Nothing changed: its time does.
            touch("$folder/sess_$id", 1700000000);
            self::assertSame("$id 9", $server->get('/session.php?read', $cookie($id))->body);
            clearstatcache();
            self::assertGreaterThan(1700000000, filemtime("$folder/sess_$id"));
            self::assertSame("$id 10", $server->get('/session.php', $cookie($id))->body);
            self::assertLessThan(300, filesize("$folder/sess_$id"));
            file_put_contents("$folder/sess_$id", substr((string) file_get_contents("$folder/sess_$id"), 0, -3));
            self::assertSame("$id 1", $server->get('/session.php', $cookie($id))->body);
            // An ID that a visitor made up is not taken.
            [$new, $count] = explode(' ', $server->get('/session.php', $cookie(str_repeat('b', 32)))->body);
            self::assertNotSame(str_repeat('b', 32), $new);
            self::assertSame('1', $count);
            self::assertFileDoesNotExist("$folder/sess_" . str_repeat('b', 32));
            self::assertSame('', $server->get('/session.php?end', $cookie($new))->body);
            self::assertFileDoesNotExist("$folder/sess_$new");
            self::assertDoesNotMatchRegularExpression('/PHP (?:Warning|Notice|Deprecated|Fatal)/', $server->log());
        } finally {
            exec('rm -r ' . escapeshellarg($folder));
        }
    }

    public function testSessionsOfBeforeOfPhpBinary(): void
    {
        $folder = sys_get_temp_dir() . '/weighbridge-' . bin2hex(random_bytes(6));
        mkdir($folder, 0700);
        putenv("WEIGHBRIDGE_SESSIONS=$folder");
        $server = new Server(['session.serialize_handler' => 'php_binary']);
        $counted = static function (string $stored) use ($server, $folder): string {
            file_put_contents("$folder/sess_counted", $stored . "\x05counti:7;");
            return $server->get('/session.php', ['Cookie' => 'PHPSESSID=counted'])->body;
        };
        try {
            // The first byte is the length of a name, and of some lengths the mark of an envelope, too.
            $values = [4 => 'i:-1;', 6 => 'i:1;', 7 => 'N;', 14 => 'b:0;', 15 => 's:1:"a";', 22 => 'a:0:{}', 23 => 'd:INF;'];
            foreach ($values as $length => $value) {
                self::assertSame('counted 8', $counted(chr($length) . str_repeat('n', $length) . $value), $value);
            }
            // Envelopes that were changed.
            self::assertSame('counted 1', $counted("\x06" . 'abcd' . "\x01xi:5;"));
            self::assertSame('counted 1', $counted("\x0e" . 'a name of fourteen'));
        } finally {
            exec('rm -r ' . escapeshellarg($folder));
        }
    }

    public function testStrictModeLeavesLocksOfMemcachedAlone(): void
    {
        if (!extension_loaded('memcached') || !is_executable('/usr/bin/memcached')) {
            Frameworks::skip('memcached: it is not installed', true);
        }
        $address = Server::freeAddress();
        putenv("WEIGHBRIDGE_SESSIONS=$address");
        [$host, $port] = explode(':', $address);
        $command = ['/usr/bin/memcached', '-l', $host, '-p', $port, '-u', 'nobody'];
        $process = proc_open($command, [['file', '/dev/null', 'r']], $pipes);
        self::assertIsResource($process);
        try {
            $server = new Server([
                'session.use_strict_mode' => '1', 'session.save_handler' => 'memcached',
                'memcached.sess_lock_wait_min' => '2000', 'memcached.sess_lock_wait_max' => '2000',
            ]);
            [$id, $count] = explode(' ', $server->get('/session.php', ['Cookie' => 'PHPSESSID=unknown'])->body);
            self::assertNotSame('unknown', $id);
            self::assertSame('1', $count);
            $begin = microtime(true);
            self::assertSame("$id 2", $server->get('/session.php', ['Cookie' => "PHPSESSID=$id"])->body);
            self::assertLessThan(1.5, microtime(true) - $begin);
            $client = new Memcached();
            $client->addServer($host, (int) $port);
            self::assertFalse($client->get('memc.sess.key.lock.unknown'));
            self::assertSame(Memcached::RES_NOTFOUND, $client->getResultCode());
        } finally {
            proc_terminate($process);
            proc_close($process);
        }
    }

    /**
     * @param iterable<string, mixed> $values
     * @return array<string, mixed>
     */
    private static function listed(iterable $values): array
    {
        return is_array($values) ? $values : iterator_to_array($values);
    }
}
