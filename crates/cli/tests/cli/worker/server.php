<?php
// A loop that answers one request after the other, as workers of FrankenPHP and RoadRunner do.
$socket = stream_socket_server('tcp://127.0.0.1:' . $argv[1]);

function page($path, $agent)
{
    static $count = 0, $before = '', $kept = array();
    $text = 'A page';
    if ($path === '/counter') {
        $count++;
        $text = 'Visit ' . $count;
    } elseif ($path === '/greeting') {
        $text = 'Hello, ' . $before;
        $before = $agent;
    } elseif ($path === '/memory') {
        $kept[] = str_repeat('x', 2000);
    }
    return "<!doctype html><title>$path</title>\n<p>$text</p>\n<p>" . mt_rand() . '</p>' . str_repeat("\n<p>A line.</p>", 20);
}

while ($client = stream_socket_accept($socket, -1)) {
    $path = strtok(substr((string) fgets($client), 4), ' ');
    $agent = '';
    while (($line = trim((string) fgets($client))) !== '') {
        $agent = stripos($line, 'User-Agent:') === 0 ? substr($line, 12) : $agent;
    }
    $body = page($path, $agent);
    fwrite($client, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: " . strlen($body) . "\r\nConnection: close\r\n\r\n" . $body);
    fclose($client);
}
