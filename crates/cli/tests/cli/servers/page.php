<?php
if (isset($_GET['header'])) {
    header('Content-Type: image/jpeg');
    header($_GET['header'] . ': ' . $_GET['value']);
    exit;
}
if (isset($_GET['burn'])) {
    do {
        $u = getrusage();
        $used = $u['ru_utime.tv_sec'] * 1000000 + $u['ru_utime.tv_usec'] + $u['ru_stime.tv_sec'] * 1000000 + $u['ru_stime.tv_usec'];
        $start = isset($start) ? $start : $used;
    } while ($used - $start < $_GET['burn']);
    exit((string) ($used - $start));
}
if (isset($_GET['until'])) {
    for ($i = 0; $i < 6000 && !file_exists($_GET['until']); $i++) {
        usleep(10000);
        clearstatcache();
    }
}
if (isset($_GET['fail'])) {
    no_such_function();
}
header('Content-Type: text/html; charset=utf-8');
for ($i = 0; $i < 2000; $i++) {
    echo "<p>line $i of a page that is well worth encoding</p>\n";
}
