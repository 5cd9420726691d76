<?php

declare(strict_types=1);

use Weighbridge\Library\Codec;
use Weighbridge\Library\OutputHandler;
use Weighbridge\Library\Tests\Support\FailingBinding;

require __DIR__ . '/../../autoload.php';
require __DIR__ . '/../Support/FailingBinding.php';

$case = $_GET['case'] ?? 'whole';
$text = str_repeat("A line of the page, with some words in it.\n", 200);
if (isset($_GET['below'])) {
    require __DIR__ . '/below.php';
}
if ($case === 'a codec that fails') {
    (new OutputHandler(null, null, new Codec([new FailingBinding()])))->open();
} else {
    OutputHandler::start($_GET['settings'] ?? null);
}
switch ($case) {
    case 'whole':
        header('ETag: "abc"');
        header('Content-Length: ' . strlen($text));
        echo $text;
        break;
    case 'small':
        echo 'small';
        break;
    case 'flushed':
    case 'streamed':
    case 'ended':
        // Each part waits until the client says that it came.
        if (isset($_GET['field'])) {
            header($_GET['field']);
        }
        for ($part = 0; $part < 3; $part++) {
            echo "part $part of the page\n", $text;
            if ($case === 'flushed') {
                ob_flush();
            } elseif ($case === 'ended') {
                ob_end_flush();
            }
            flush();
            for ($i = 0; $part < 2 && !file_exists($_GET['seen'] . $part); $i++) {
                if ($i === 2500) {
                    exit("part $part did not come");
                }
                usleep(2000);
                clearstatcache();
            }
        }
        break;
    case 'empty flushes':
        ob_flush();
        flush();
        ob_flush();
        echo $text;
        ob_flush();
        ob_flush();
        break;
    case 'no content':
        http_response_code(204);
        break;
    case 'not modified':
        http_response_code(304);
        header('ETag: "abc"');
        break;
    case 'part':
        http_response_code(206);
        header('Content-Range: bytes 0-9/1000');
        echo substr($text, 0, 2000);
        break;
    case 'encoded':
        header('Content-Encoding: gzip');
        echo (new Codec())->encode($text, 'gzip');
        break;
    case 'no-transform':
        header('Cache-Control: public, no-transform');
        echo $text;
        break;
    case 'image':
        header('Content-Type: image/png');
        echo $text;
        break;
    case 'vary':
        header('Vary: Cookie');
        header('Vary: Accept-Language', false);
        echo $text;
        break;
    case 'twice':
        OutputHandler::start();
        echo $text;
        break;
    case 'gzhandler inside':
        ob_start('ob_gzhandler');
        echo $text;
        break;
    case 'dropped':
        echo 'dropped';
        ob_end_clean();
        echo $text;
        break;
    case 'cleaned':
        echo 'dropped';
        ob_clean();
        echo $text;
        break;
    case 'taken':
        echo $text;
        $taken = ob_get_clean();
        echo $taken;
        break;
    case 'exception':
        set_exception_handler(static function (): void {
            ob_end_clean();
            http_response_code(500);
            echo 'error page';
        });
        echo $text;
        throw new LogicException('in the middle of the page');
    case 'exception after flush':
        set_exception_handler(static function (): void {
            ob_end_clean();
            echo 'error page';
        });
        echo $text;
        ob_flush();
        flush();
        echo 'dropped';
        throw new LogicException('in the middle of a flushed page');
    case 'all closed after flush':
        echo $text;
        ob_flush();
        flush();
        echo 'dropped';
        while (ob_get_level() > 0) {
            ob_end_clean();
        }
        echo 'error page';
        break;
    case 'closed by a framework':
        echo $text;
        OutputHandler::close(1);
        break;
    case 'finished early':
        echo $text;
        fastcgi_finish_request();
        echo 'after the end';
        break;
    case 'output at the end':
        echo $text;
        register_shutdown_function(static function (): void {
            echo 'from a shutdown function';
        });
        ob_flush();
        flush();
        break;
    case 'memory':
        ini_set('memory_limit', '8M');
        echo $text;
        for ($kept = []; true;) {
            $kept[] = str_repeat('x', 1000);
        }
        // It ends there.
    case 'large':
        ini_set('memory_limit', '24M');
        for ($i = 0; $i < 800; $i++) {
            echo $text;
        }
        break;
    case 'large at once':
        $large = file_get_contents($_GET['path']);
        ini_set('memory_limit', (string) (memory_get_usage(true) + 2 * strlen($large) + (8 << 20)));
        echo str_repeat('x', (int) $_GET['before']);
        echo $large;
        echo $_GET['before'] > 0 ? 'the end' : '';
        break;
    case 'a file':
    case 'a table':
        ini_set('memory_limit', '8M');
        header('Content-Type: text/csv');
        if ($case === 'a file') {
            if (PHP_VERSION_ID < 80500) {
                readfile($_GET['path']);
                break;
            }
            // PHP 8.5 gives a file to its buffers in one piece.
            $file = fopen($_GET['path'], 'r');
            while (!feof($file)) {
                echo fread($file, 8192);
            }
            break;
        }
        $table = fopen('php://output', 'w');
        for ($i = 0; $i < 200000; $i++) {
            fputcsv($table, [$i, "the row $i of the table", 'and some more of it that is the same in all'], ',', '"', '\\');
        }
        break;
    case 'headers sent':
        echo $text;
        flush();
        break;
    case 'a codec that fails':
        echo $text;
        ob_flush();
        echo $text;
        break;
    case 'conditional':
        header('ETag: "abc"');
        header('Cache-Control: max-age=60');
        if (($_SERVER['HTTP_IF_NONE_MATCH'] ?? '') === '"abc"') {
            http_response_code(304);
            break;
        }
        echo $text;
        break;
    case 'handlers':
        echo str_pad(implode(',', ob_list_handlers()), 2000);
        break;
    default:
        require __DIR__ . '/ends.php';
}
