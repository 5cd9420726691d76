<?php

// Sends a file through PHP, whole or the one range that the client wants.

declare(strict_types=1);

if (!is_file($file)) {
    http_response_code(404);
    exit("Not found\n");
}
$types = ['pdf' => 'application/pdf', 'zip' => 'application/zip', 'gz' => 'application/gzip', 'txt' => 'text/plain'];
$size = filesize($file);
header('Content-Type: ' . ($types[pathinfo($file, PATHINFO_EXTENSION)] ?? 'application/octet-stream'));
header('Content-Disposition: attachment; filename="' . basename($file) . '"');
header('Accept-Ranges: bytes');

if (!preg_match('~^bytes=(\d+)-(\d*)$~D', $_SERVER['HTTP_RANGE'] ?? '', $range) || (int) $range[1] >= $size) {
    header('Content-Length: ' . $size);
    readfile($file);
    exit;
}
$from = (int) $range[1];
$to = $range[2] === '' ? $size - 1 : min((int) $range[2], $size - 1);
if ($to < $from) {
    http_response_code(416);
    exit;
}
http_response_code(206);
header("Content-Range: bytes $from-$to/$size");
header('Content-Length: ' . ($to - $from + 1));
echo file_get_contents($file, false, null, $from, $to - $from + 1);
