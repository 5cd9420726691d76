<?php
session_start();
$_SESSION['seen'] = true;
$written = @file_put_contents(__DIR__ . '/written', 'x');
$path = strtok($_SERVER['REQUEST_URI'], '?');
if ($path !== '/' && $path !== '/about') {
    http_response_code(404);
    exit('no such page');
}
echo '<!doctype html><link rel=stylesheet href=/css/site.css><a href="http://', $_SERVER['HTTP_HOST'], '/about">about</a>';
echo '<a href="/gone">gone</a><p>', $path, ' by ', session_save_path() === '' ? 'nobody' : 'a session', '</p>', str_repeat('<p>text</p>', 500);
