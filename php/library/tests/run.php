<?php

/**
 * Runs all tests with PHPUnit 9 in a PHP that lacks the extension dom, which only PHPUnit's own command needs.
 */

declare(strict_types=1);

use PHPUnit\Framework\TestSuite;
use PHPUnit\TextUI\TestRunner;

// The newest PHPs deprecate what PHPUnit 9 does.
error_reporting(E_ALL & ~E_DEPRECATED);
ini_set('memory_limit', '256M');
ini_set('error_log', '/dev/null');
date_default_timezone_set('UTC');
require 'PHPUnit/Autoload.php';
require __DIR__ . '/bootstrap.php';

$suite = new TestSuite('library');
foreach (glob(__DIR__ . '/*Test.php') ?: [] as $file) {
    $suite->addTestFile($file);
}
$arguments = [
    'verbose' => true,
    'cacheResult' => false,
    'convertDeprecationsToExceptions' => false,
    'extensions' => [],
    'loadedExtensions' => [],
    'notLoadedExtensions' => [],
];
$result = (new TestRunner())->run($suite, $arguments, [], false);
exit($result->wasSuccessful() && $result->riskyCount() === 0 && $result->warningCount() === 0 ? 0 : 1);
