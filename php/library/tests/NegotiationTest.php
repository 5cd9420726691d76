<?php

declare(strict_types=1);

namespace Weighbridge\Library\Tests;

use PHPUnit\Framework\TestCase;
use Weighbridge\Library\Negotiation;
use Weighbridge\Library\Tests\Support\Frameworks;

final class NegotiationTest extends TestCase
{
    /** @return iterable<array{string|null, string|null, bool}> */
    public function fields(): iterable
    {
        yield [null, null, true];
        yield ['', null, true];
        yield ['gzip', 'gzip', true];
        yield ['x-gzip', 'gzip', true];
        yield ['GZIP', 'gzip', true];
        yield ['gzip, br, zstd', 'zstd', true];
        yield ['gzip;q=1.0, br;q=0.9', 'gzip', true];
        yield ['gzip;q=0', null, true];
        yield ['gzip; q=0.001', 'gzip', true];
        yield ['*', 'zstd', true];
        yield ['*;q=0', null, false];
        yield ['gzip;q=0, *', 'zstd', true];
        yield ['zstd;q=0, br;q=0, *', 'gzip', true];
        yield ['identity;q=0', null, false];
        yield ['identity;q=0.5, gzip;q=0.4', null, true];
        yield ['identity;q=0.5, gzip;q=0.5', 'gzip', true];
        yield ['identity, gzip', 'gzip', true];
        yield ['gzip;q=2', null, true];
        yield ['gzip;q=0.1234', null, true];
        yield ['gzip;level=9', null, true];
        yield ["gzip;q=1\n", 'gzip', true];
        yield ['compress, notgzip', null, true];
        yield ['br gzip', null, true];
        yield [str_repeat('a, ', 2700) . 'gzip', 'gzip', true];
        yield [str_repeat('a, ', 21846) . 'gzip', null, true];
        yield [str_repeat('gzip;q=0.5;', 6000), null, true];
        yield [str_repeat(',', 65536), null, true];
    }

    /** @dataProvider fields */
    public function testTheChoice(?string $field, ?string $coding, bool $takesIdentity): void
    {
        $negotiation = new Negotiation($field);
        self::assertSame($coding, $negotiation->choose(['zstd', 'br', 'gzip']));
        self::assertSame($takesIdentity, $negotiation->takesIdentity());
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
                $chosen = 'refused';
            }
            $negotiation = new Negotiation($field);
            $own = $negotiation->choose(['zstd', 'br', 'gzip']);
            $own = $own === null && !$negotiation->takesIdentity() ? 'refused' : $own;
            self::assertSame($chosen, $own, $field);
        }
    }
}
