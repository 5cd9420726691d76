<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests;

use PHPUnit\Framework\TestCase;
use Weighbridge\Library\Request;
use Weighbridge\Library\Tests\Support\Frameworks;

final class NegotiationTest extends TestCase
{
    public function testLongFields(): void
    {
        foreach (
            [
                [str_repeat('a, ', 2700) . 'gzip', 'gzip'],
                [str_repeat('a, ', 21846) . 'gzip', null],
                [str_repeat('gzip;q=0.5;', 6000), null],
                [str_repeat(',', 65536), null],
            ] as [$field, $coding]
        ) {
            self::assertSame($coding, self::chosen($field));
        }
    }

    public function testTheSameRulesAsTheLabs(): void
    {
        $lab = __DIR__ . '/../../lib';
        if (!is_file("$lab/Accept.php")) {
            Frameworks::skip('the lab is not beside the library', true);
        }
        require_once "$lab/Accept.php";
        require_once "$lab/Fault.php";
        $members = ['gzip', 'br', 'zstd', 'identity', '*', 'x-gzip'];
        mt_srand(22);
        for ($i = 0; $i < 2000; $i++) {
            $field = '';
            for ($count = mt_rand(0, 4); $count > 0; $count--) {
                $quality = ['', ';q=0', ';q=1', ';q=0.5', '; q=0.25', ';q=x'][mt_rand(0, 5)];
                $field .= ($field === '' ? '' : ', ') . $members[mt_rand(0, 5)] . $quality;
            }
            try {
                $chosen = (new \Weighbridge\Accept($field))->choose(['zstd', 'br', 'gzip']);
            } catch (\Weighbridge\Fault $fault) {
                $chosen = null;
            }
            self::assertSame($chosen, self::chosen($field), $field);
        }
    }

    private static function chosen(string $field): ?string
    {
        return (new Request('GET', ['accept-encoding' => $field]))->accepted(['zstd', 'br', 'gzip'])[0] ?? null;
    }
}
