<?php

declare(strict_types=1);

use Weighbridge\Library\OutputHandler;

require __DIR__ . '/../../autoload.php';

ob_start('ob_gzhandler');
OutputHandler::start();
echo str_repeat("A line of the page, with some words in it.\n", 200);
