<?php
/**
 * The PHP worker: reads one JSON request a line on stdin, writes one JSON reply a line on stdout.
 *
 * Everything here and below runs unchanged on PHP 5.5 to the newest, and needs no extension but json
 * and what a PHP is always built with. The lab starts it; it ends when its stdin does.
 */

use Weighbridge\Catalogue;
use Weighbridge\Worker;

// Nothing but replies may reach stdout: errors go to stderr, and stray output of any code that runs here
// is taken up by a buffer (see Worker). The limit on memory would only turn large payloads into crashes.
ini_set('display_errors', 'stderr');
ini_set('html_errors', '0');
ini_set('log_errors', '0');
ini_set('memory_limit', '-1');
set_time_limit(0);
error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);

spl_autoload_register(function ($class) {
    if (strncmp($class, 'Weighbridge\\', 12) === 0) {
        $file = __DIR__ . '/lib/' . substr($class, 12) . '.php';
        if (is_file($file)) {
            require $file;
        }
    }
});

register_shutdown_function(function () {
    $error = error_get_last();
    $fatal = E_ERROR | E_PARSE | E_CORE_ERROR | E_COMPILE_ERROR | E_USER_ERROR | E_RECOVERABLE_ERROR;
    if ($error !== null && ($error['type'] & $fatal) !== 0) {
        $message = strtok($error['message'], "\n");
        file_put_contents('php://stderr', "php worker: fatal: $message, {$error['file']}:{$error['line']}\n");
    }
});

foreach (array('json_encode' => 'json', 'getrusage' => 'standard') as $function => $extension) {
    if (!function_exists($function)) {
        file_put_contents('php://stderr', "php worker: this PHP has no $function(); the $extension extension is needed\n");
        exit(1);
    }
}

$worker = new Worker(new Catalogue(__DIR__));
$worker->serve(fopen('php://stdin', 'r'), fopen('php://stdout', 'w'));
