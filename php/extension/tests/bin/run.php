<?php

/**
 * Tests of the extension under a real PHP, which has it loaded.
 *
 *     php -n -d extension=PATH/libweighbridge_php.so php/extension/tests/bin/run.php
 *
 * Pages are asked for over HTTP, from PHP's own server with the same extension. Faults need a build with debug assertions, as
 * `cargo build` makes it; a build for use leaves those tests out.
 */

declare(strict_types=1);

error_reporting(E_ALL);
set_error_handler(function (int $severity, string $message, string $file, int $line): bool {
    if ((error_reporting() & $severity) === 0) {
        return true;
    }
    throw new ErrorException($message, 0, $severity, $file, $line);
});

$php = dirname(__DIR__, 3);
foreach (['Failure', 'Skip', 'Runner', 'FastCgi'] as $class) {
    require "$php/tests/lib/$class.php";
}
require "$php/lib/Classes.php";
Weighbridge\Classes::here();
foreach (['Expect', 'Response', 'Site', 'Fpm'] as $class) {
    require dirname(__DIR__) . "/lib/$class.php";
}

if (!extension_loaded('weighbridge')) {
    fwrite(STDERR, "run.php: the extension is not loaded; start with php -n -d extension=PATH/libweighbridge_php.so\n");
    exit(1);
}
$runner = new Runner(getenv('WEIGH_STRICT') === '1');
// The functions of the page, without what it does.
ob_start();
$_GET['do'] = 'start-plain,end';
require dirname(__DIR__) . '/pages/page.php';
ob_end_clean();
foreach (glob(dirname(__DIR__) . '/cases/*.php') ?: [] as $file) {
    (require $file)($runner);
}
exit($runner->report());
