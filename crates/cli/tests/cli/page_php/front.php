<?php
function used()
{
    $usage = getrusage();
    return ($usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec']) * 1000000 + $usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec'];
}

function burn($ms)
{
    $end = used() + $ms * 1000;
    while (used() < $end) {
    }
}

$path = strtok($_SERVER['REQUEST_URI'], '?');
$isOther = ini_get('user_agent') === 'other';
burn($path === '/' && $isOther ? 9 : 3);
if ($path === '/broken' && $isOther) {
    no_such_function();
}
if ($path === '/notice' && $isOther) {
    trigger_error('old_function() is old', E_USER_DEPRECATED);
}
$links = '';
foreach (array('/text', '/notice', '/broken', '/kept') as $link) {
    $links .= '<a href=' . $link . '>' . $link . '</a>';
}
echo '<!doctype html><title>', $path, "</title>\n<p>", mt_rand(), "</p>\n";
echo $path === '/text' && $isOther ? '<p>Other words</p>' : '<p>The words</p>', $links, str_repeat("\n<p>A line.</p>", 300);
