<?php

// The front controller: the server sends files that exist, and passes every other path to this script.

declare(strict_types=1);

$path = rawurldecode((string) parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH));
$pages = dirname(__DIR__) . '/pages';

if ($path === '/') {
    require $pages . '/index.php';
} elseif (preg_match('~^/article/([1-9]\d?)$~D', $path, $match)) {
    $number = (int) $match[1];
    require $pages . '/article.php';
} elseif (preg_match('~^/downloads/(\w[\w.-]*)$~D', $path, $match)) {
    $file = __DIR__ . '/downloads/' . $match[1];
    require $pages . '/download.php';
} else {
    http_response_code(404);
    echo "Not found\n";
}
