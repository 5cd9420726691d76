<?php

/**
 * Calls everything that the extension has with random input, many times, and says how its memory grew.
 *
 *     php -n -d extension=PATH/libweighbridge_php.so php/extension/tests/bin/soak.php [CALLS] [SEED]
 *
 * Without CALLS it makes ten million. Ends with 1 if a value did not come back, or if the process, once warm, grew by more than 2 MB.
 */

declare(strict_types=1);

const GROWTH = 2 << 20;

/** Bytes that the process has in memory. */
function resident(): int
{
    return 4096 * (int) explode(' ', (string) file_get_contents('/proc/self/statm'))[1];
}

/** Text that compresses, or noise, of up to a few kilobytes; now and then 100 times that. */
function input(): string
{
    $size = mt_rand(0, 1) === 1 ? mt_rand(0, 200) : mt_rand(0, 4000);
    $size *= mt_rand(1, 20_000) === 1 ? 100 : 1;
    if (mt_rand(0, 3) === 0) {
        return $size === 0 ? '' : random_bytes($size);
    }
    return substr(str_repeat('<li>' . mt_rand() . "</li>\n", intdiv($size, 10) + 1), 0, $size);
}

function fail(string $what): never
{
    fwrite(STDERR, "soak: $what\n");
    exit(1);
}

/** Encodes and decodes once: two calls. */
function comesBack(string $coding, ?int $level, ?string $dictionary): int
{
    $data = input();
    $encoded = weighbridge_encode($data, $coding, $level, $dictionary);
    if (weighbridge_decode($encoded, $coding, strlen($data), $dictionary) !== $data) {
        fail("$coding did not come back: " . bin2hex($data));
    }
    return 2;
}

/** A stream of a few pieces. */
function stream(string $coding, ?string $dictionary): int
{
    $encoder = new WeighbridgeEncoder($coding, null, $dictionary);
    [$said, $sent, $calls] = ['', '', 1];
    for ($i = mt_rand(0, 3); $i > 0; --$i) {
        $piece = input();
        $said .= $piece;
        $sent .= $encoder->add($piece) . (mt_rand(0, 1) === 1 ? $encoder->flush() : '');
        $calls += 2;
    }
    if (mt_rand(0, 4) === 0) {
        // Left as it is.
        return $calls;
    }
    $sent .= $encoder->finish();
    if (weighbridge_decode($sent, $coding, strlen($said), $dictionary) !== $said) {
        fail("a stream of $coding did not come back: " . bin2hex($said));
    }
    return $calls + 2;
}

/** What cannot be decoded, and arguments that are wrong: an exception, or bytes within the bound. */
function hostile(string $coding, ?string $dictionary): int
{
    $limit = mt_rand(0, 5000);
    $data = mt_rand(0, 1) === 1 ? random_bytes(mt_rand(1, 300)) : weighbridge_encode(input(), $coding, null, $dictionary);
    if ($data !== '' && mt_rand(0, 1) === 1) {
        $data[mt_rand(0, strlen($data) - 1)] = chr(mt_rand(0, 255));
        $data = substr($data, 0, mt_rand(0, strlen($data)));
    }
    try {
        if (strlen(weighbridge_decode($data, $coding, $limit, $dictionary)) > $limit) {
            fail("$coding decoded to more than $limit bytes: " . bin2hex($data));
        }
    } catch (RuntimeException $refused) {
        unset($refused);
    }
    try {
        weighbridge_encode($data, mt_rand(0, 1) === 1 ? $data : $coding, mt_rand(-100, 100), $data);
    } catch (ValueError | TypeError $refused) {
        unset($refused);
    }
    return 3;
}

/** The output handler, in chunks of any kind; the command line has no header, so it leaves everything as it is. */
function handler(): int
{
    ob_start();
    ob_start('weighbridge_output_handler', mt_rand(0, 1) * 100);
    echo input();
    mt_rand(0, 1) === 1 ? ob_flush() : ob_clean();
    weighbridge_output_handler('text', mt_rand());
    ob_end_clean();
    ob_end_clean();
    return 4;
}

$calls = (int) ($argv[1] ?? 10_000_000);
$seed = (int) ($argv[2] ?? random_int(1, 1 << 30));
mt_srand($seed);
$dictionaries = array_map(fn(int $i) => str_repeat("<li>dictionary $i</li>\n", 20 * $i), range(1, 8));
[$done, $warm, $next] = [0, 0, 0];
$began = hrtime(true);
while ($done < $calls) {
    $coding = ['gzip', 'deflate', 'br', 'zstd'][mt_rand(0, 3)];
    $dictionary = $coding === 'zstd' && mt_rand(0, 1) === 1 ? $dictionaries[mt_rand(0, 7)] : null;
    $done += match (mt_rand(0, 9)) {
        0 => stream($coding, $dictionary),
        1, 2 => hostile($coding, $dictionary),
        3 => handler(),
        default => comesBack($coding, mt_rand(0, 3) === 0 ? mt_rand(0, 9) : null, $dictionary),
    };
    if ($done >= $next) {
        $warm = $done < $calls / 10 ? max($warm, resident()) : $warm;
        printf("%d calls, %d KB resident, %d KB of PHP's own, %d s\n", $done, resident() >> 10, memory_get_usage() >> 10, (hrtime(true) - $began) / 1e9);
        $next += max(1, intdiv($calls, 50));
    }
}
$grown = resident() - $warm;
printf("%d calls with the seed %d: grown by %d KB since the first tenth\n", $done, $seed, $grown >> 10);
exit($grown > GROWTH ? 1 : 0);
