<?php

/** A page that flushes its first part and then works for a while; `handler` is the output handler, or none. */

declare(strict_types=1);

if (isset($_GET['handler'])) {
    ob_start($_GET['handler']);
} else {
    ob_start();
}
echo str_repeat("<li class=\"item\">the part that a visitor sees first</li>\n", 350);
ob_flush();
flush();
usleep(5000);
echo str_repeat("<li class=\"item\">the rest</li>\n", 350);
