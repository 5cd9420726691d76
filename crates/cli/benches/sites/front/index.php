<?php
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if ($path === '/login') {
    if ($_SERVER['REQUEST_METHOD'] === 'POST') { header('Location: /', true, 303); exit; }
}
if ($path === '/old') { header('Location: /products/1', true, 301); exit; }
if ($path === '/report') { header('Content-Type: application/pdf'); readfile(__DIR__ . '/../report.pdf'); exit; }
if ($path === '/feed') { header('Content-Type: application/rss+xml'); echo '<?xml version="1.0"?><rss version="2.0"><channel><title>News</title></channel></rss>'; exit; }
if (!preg_match('~^/(products/([1-9])|about|login)?$~', $path, $found)) { http_response_code(404); exit('<!doctype html><title>Not found</title>'); }
$lines = 40 + 60 * (int) ($found[2] ?? 0);
echo "<!doctype html><html><head><title>Shop</title>%head</head><body>%images<a href='/about'>About</a>\n";
for ($i = 1; $i < 10; $i++) echo "<a href='/products/$i'>Product $i</a>\n";
for ($i = 0; $i < $lines; $i++) echo "<p class='mb-3' id='p$i'>Line $i of $path, " . md5($path . $i) . "</p>\n";
echo '</body></html>';
