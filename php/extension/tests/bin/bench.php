<?php

/**
 * The extension compared with PHP's zlib, in turns.
 *
 *     export WEIGHBRIDGE_EXTENSION=PATH/libweighbridge_php.so
 *     php -n -d extension=$WEIGHBRIDGE_EXTENSION php/extension/tests/bin/bench.php functions|levels|handler|fpm FILE…
 *     php -n -d extension=$WEIGHBRIDGE_EXTENSION php/extension/tests/bin/bench.php flush
 *
 * - functions: CPU time and bytes of a page as gzip, by the functions; levels: of every level.
 * - handler: the same by the output handlers, inside PHP's own server.
 * - fpm: CPU time of the worker of PHP-FPM and bytes per page: without a handler, without the extension with zlib.output_compression 6, with the
 *   extension and each coding.
 * - flush: milliseconds until the first byte of the body of a flushed page, without a handler and with each.
 *
 * A CPU time is the lowest of 15 turns, in user and system time of the process that encodes.
 */

declare(strict_types=1);

/**
 * The lowest microseconds per call of each, over turns.
 * @param array<string, Closure(): string> $calls
 * @return array<string, array{float, int}> microseconds, and bytes of the result
 */
function measure(array $calls, int $turns = 15): array
{
    $best = [];
    $batch = [];
    foreach ($calls as $name => $call) {
        $began = Cpu::now();
        $bytes = strlen($call());
        $batch[$name] = (int) max(1, 20_000 / max(1, Cpu::now() - $began));
        $best[$name] = [INF, $bytes];
    }
    for ($turn = 0; $turn < $turns; ++$turn) {
        foreach ($calls as $name => $call) {
            $began = Cpu::now();
            for ($i = 0; $i < $batch[$name]; ++$i) {
                $call();
            }
            $best[$name][0] = min($best[$name][0], (Cpu::now() - $began) / $batch[$name]);
        }
    }
    return $best;
}

/** @param array<string, array{float, int}> $found of which the first is the one to compare with */
function show(string $file, array $found): void
{
    [$time, $bytes] = reset($found);
    printf("%s, %d bytes\n", basename($file), filesize($file));
    foreach ($found as $name => [$own, $size]) {
        $form = "  %-26s %10.1f us  %8d bytes  CPU %.3f  bytes %.4f of %s\n";
        printf($form, $name, $own, $size, $own / $time, $size / $bytes, array_key_first($found));
    }
}

function functions(string $file, bool $all): void
{
    $page = (string) file_get_contents($file);
    $levels = $all
        ? ['gzip' => range(1, 9), 'br' => range(3, 6), 'zstd' => range(3, 9)]
        : ['gzip' => [6], 'br' => [5], 'zstd' => [6]];
    $calls = ['gzencode 6' => fn() => gzencode($page, 6)];
    foreach ($levels as $coding => $some) {
        foreach ($some as $level) {
            $calls["$coding $level"] = fn() => weighbridge_encode($page, $coding, $level);
        }
    }
    show($file, measure($calls));
}

function handlers(string $file): void
{
    putenv("WEIGHBRIDGE_PAGE=$file");
    foreach (['gzip', 'br', 'zstd'] as $coding) {
        $site = new Site(['weighbridge.codings' => $coding, 'memory_limit' => '256M']);
        $answer = json_decode($site->get('bench.php', 'gzip, br, zstd')->page(), true);
        $site->end();
        $found = ['ob_gzhandler 6' => $answer['ob_gzhandler'], "weighbridge $coding" => $answer['weighbridge'], 'none' => $answer['none']];
        show($file, array_map(fn(array $one) => [(float) $one['us'], (int) $one['bytes']], $found));
    }
}

function fpm(string $file): void
{
    $ours = ['output_handler' => 'weighbridge_output_handler', 'weighbridge.codings' => 'gzip'];
    $pools = [
        'zlib.output_compression 6' => ['extension' => '', 'zlib.output_compression' => '1', 'zlib.output_compression_level' => '6'],
        'none' => ['extension' => ''],
        'extension, codings off' => ['weighbridge.codings' => ''] + $ours,
        'extension, not accepted' => ['weighbridge.codings' => 'deflate'] + $ours,
        'extension, gzip' => $ours,
        'extension, br' => ['weighbridge.codings' => 'br'] + $ours,
        'extension, zstd' => ['weighbridge.codings' => 'zstd'] + $ours,
    ];
    $pools = array_map(fn(array $settings) => new Fpm($settings), $pools);
    $all = $bytes = [];
    $times = (int) max(3, 3_000_000 / filesize($file) / 2);
    for ($turn = 0; $turn < 15; ++$turn) {
        foreach ($pools as $name => $fpm) {
            $began = $fpm->cpu();
            for ($i = 0; $i < $times; ++$i) {
                $bytes[$name] = strlen($fpm->get('', 'gzip, br, zstd', [], ['file' => $file], 'file.php')->body);
            }
            $all[$name][] = ($fpm->cpu() - $began) / $times;
        }
    }
    foreach ($all as $name => $turns) {
        sort($turns);
        $all[$name] = [$turns[1], $bytes[$name]];
    }
    show($file, $all);
    array_map(fn(Fpm $fpm) => $fpm->end(), $pools);
}

/** Milliseconds from the request to the first byte after the header. */
function firstByte(Site $site, string $page): float
{
    $began = hrtime(true);
    $socket = $site->ask($page, 'gzip');
    for ($head = ''; !str_contains($head, "\r\n\r\n") || str_ends_with($head, "\r\n\r\n");) {
        $head .= fread($socket, 65536);
    }
    $time = (hrtime(true) - $began) / 1e6;
    stream_get_contents($socket);
    return $time;
}

function flushes(): void
{
    $pages = ['none' => 'flush.php'];
    foreach (['ob_gzhandler', 'weighbridge_output_handler'] as $handler) {
        $pages[$handler] = "flush.php?handler=$handler";
    }
    $times = [];
    $site = new Site(['weighbridge.codings' => 'gzip']);
    for ($turn = 0; $turn < 300; ++$turn) {
        foreach ($pages as $name => $page) {
            $times[$name][] = firstByte($site, $page);
        }
    }
    foreach ($times as $name => $all) {
        sort($all);
        printf("%-28s first byte: median %.3f ms, lowest %.3f, 90th percentile %.3f\n", $name, $all[150], $all[0], $all[270]);
    }
    $site->end();
}

require dirname(__DIR__, 3) . '/tests/lib/Failure.php';
foreach (['Skip', 'FastCgi'] as $class) {
    require dirname(__DIR__, 3) . "/tests/lib/$class.php";
}
foreach (['Cpu', 'Expect', 'Response', 'Site', 'Fpm'] as $class) {
    require dirname(__DIR__) . "/lib/$class.php";
}
$what = $argv[1] ?? '';
$files = array_map('realpath', array_slice($argv, 2));
match ($what) {
    'functions', 'levels' => array_map(fn(string $file) => functions($file, $what === 'levels'), $files),
    'handler' => array_map('handlers', $files),
    'fpm' => array_map('fpm', $files),
    'flush' => flushes(),
    default => fwrite(STDERR, "bench.php: say functions, levels, handler, fpm or flush, and for all but the last the files\n"),
};
