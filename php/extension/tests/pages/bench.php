<?php

/**
 * What the output handlers cost, in the server: each sends the page into a buffer, in turns, and the buffer is thrown away.
 * The page is the file that WEIGHBRIDGE_PAGE names. Answers with JSON: microseconds of CPU and bytes, by handler.
 */

declare(strict_types=1);

require dirname(__DIR__) . '/lib/Cpu.php';

function sent(?string $handler, string $page): int
{
    ob_start();
    ob_start($handler);
    echo $page;
    ob_end_flush();
    header_remove();
    return strlen((string) ob_get_clean());
}

ini_set('zlib.output_compression_level', '6');
$page = (string) file_get_contents((string) getenv('WEIGHBRIDGE_PAGE'));
$times = (int) max(1, 6_000_000 / strlen($page) / 20);
$found = [];
for ($turn = 0; $turn < 15; ++$turn) {
    foreach (['none' => null, 'ob_gzhandler' => 'ob_gzhandler', 'weighbridge' => 'weighbridge_output_handler'] as $name => $handler) {
        $began = Cpu::now();
        for ($i = 0; $i < $times; ++$i) {
            $bytes = sent($handler, $page);
        }
        $found[$name] = ['us' => min($found[$name]['us'] ?? INF, (Cpu::now() - $began) / $times), 'bytes' => $bytes];
    }
}
header('Content-Type: application/json');
echo json_encode($found);
