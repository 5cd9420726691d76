<?php

// The front page.

declare(strict_types=1);

require __DIR__ . '/page.php';

echo page('index.html', 0);
