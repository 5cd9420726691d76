<?php

/**
 * A page that behaves as `do` says, word by word in its order; see the cases. `html` is the page.
 */

declare(strict_types=1);

function html(int $bytes = 40_000): string
{
    $page = '';
    for ($i = 0; strlen($page) < $bytes; ++$i) {
        $page .= "<li id=\"n$i\"><a href=\"/item/$i\">Item " . sha1((string) $i) . "</a> of the page</li>\n";
    }
    return substr($page, 0, $bytes);
}

/** Waits until the client says that it has read what was flushed: by a file that it makes. */
function wait(): void
{
    $file = $_GET['until'];
    for ($i = 0; $i < 3000 && !file_exists($file); ++$i) {
        usleep(10_000);
        clearstatcache();
    }
    echo file_exists($file) ? '' : 'the client did not read what was flushed';
}

$deeds = [
    'start' => fn() => ob_start('weighbridge_output_handler'),
    'start-pieces' => fn() => ob_start('weighbridge_output_handler', 4096),
    'start-closure' => fn() => ob_start(fn(string $buffer, int $flags) => weighbridge_output_handler($buffer, $flags)),
    'start-plain' => fn() => ob_start(),
    'start-upper' => fn() => ob_start(fn(string $buffer) => strtoupper($buffer)),
    'start-gz' => fn() => ob_start('ob_gzhandler'),
    'end' => fn() => ob_end_flush(),
    'end-all' => function (): void {
        while (ob_get_level() > 0) {
            ob_end_flush();
        }
    },
    'end-at-shutdown' => fn() => register_shutdown_function('ob_end_flush'),
    'html-at-shutdown' => fn() => register_shutdown_function(fn() => print html()),
    'capture' => fn() => ob_start(),
    'store' => fn() => file_put_contents($_GET['store'], ob_get_flush()),
    'finish' => fn() => fastcgi_finish_request(),
    'flush-only' => fn() => flush(),
    'file' => fn() => readfile($_GET['file']),
    'passthru' => fn() => fpassthru(fopen($_GET['file'], 'r')),
    'copy' => fn() => stream_copy_to_stream(fopen($_GET['file'], 'r'), fopen('php://output', 'w')),
    'copy-elsewhere' => fn() => stream_copy_to_stream(fopen($_GET['file'], 'r'), fopen('/dev/null', 'w')),
    'echo-40M' => function (): void {
        echo str_repeat(str_pad('the same again', 39) . "\n", 1_000_000);
    },
    'events' => fn() => header('Content-Type: text/event-stream'),
    'ndjson' => fn() => header('Content-Type: application/x-ndjson; charset=utf-8'),
    'unbuffered' => fn() => header('X-Accel-Buffering: no'),
    'implicit' => fn() => ob_implicit_flush(),
    'ranges' => fn() => header('Accept-Ranges: bytes'),
    'compare' => function (): void {
        header('ETag: "abc"');
        header('Cache-Control: max-age=60');
        if (($_SERVER['HTTP_IF_NONE_MATCH'] ?? '') === '"abc"') {
            http_response_code(304);
            exit;
        }
    },
    'length-of-others' => fn() => header('Content-Length: 7'),
    'forget' => fn() => header_remove(),
    'try-end' => fn() => @ob_end_flush(),
    'html' => function (): void {
        echo html();
    },
    'big' => function (): void {
        foreach (str_split(html(400_000), 1000) as $piece) {
            echo $piece;
        }
    },
    'small' => function (): void {
        echo 'small';
    },
    'noise' => function (): void {
        for ($i = 0, $noise = ''; $i < 300; ++$i) {
            $noise .= sha1((string) $i, true);
        }
        echo $noise;
    },
    'flush' => function (): void {
        ob_flush();
        flush();
    },
    'clean' => fn() => ob_clean(),
    'try-clean' => fn() => @ob_clean(),
    'end-clean' => fn() => ob_end_clean(),
    'wait' => fn() => wait(),
    'exit' => fn() => exit,
    'throw' => fn() => throw new RuntimeException('on purpose'),
    'memory' => function (): void {
        ini_set('memory_limit', '8M');
        // A bound, for a PHP whose memory is not its own (USE_ZEND_ALLOC=0) has no limit.
        for ($all = []; count($all) < 1000;) {
            $all[] = html(100_000);
        }
    },
    'zlib' => fn() => ini_set('zlib.output_compression', '1'),
    'png' => fn() => header('Content-Type: image/png'),
    'encoded' => fn() => header('Content-Encoding: identity'),
    'no-transform' => fn() => header('Cache-Control: no-transform'),
    'range' => fn() => header('Content-Range: bytes 0-39999/50000'),
    'length' => fn() => header('Content-Length: 40000'),
    'etag' => fn() => header('ETag: "abc"'),
    'vary' => function (): void {
        header('Vary: Cookie');
        header('Vary: accept-encoding, Origin', false);
    },
    'vary-cookie' => fn() => header('Vary: Cookie'),
    'nothing' => fn() => http_response_code(204),
    'unchanged' => fn() => http_response_code(304),
    'missing' => fn() => http_response_code(404),
    'fault-page' => fn() => ini_set('weighbridge.fault', 'page'),
    'fault-piece' => fn() => ini_set('weighbridge.fault', 'piece'),
    'level-9' => fn() => ini_set('weighbridge.level', '9'),
    'br-only' => fn() => ini_set('weighbridge.codings', 'br'),
    'level-1' => fn() => ini_set('weighbridge.level', '1'),
    'breach-off' => fn() => ini_set('weighbridge.breach', 'off'),
    'none' => fn() => ini_set('weighbridge.codings', ''),
    'all' => fn() => ini_set('weighbridge.codings', 'zstd,br,gzip,deflate'),
];
foreach (explode(',', $_GET['do'] ?? '') as $deed) {
    $deeds[$deed]();
}
