<?php

// An article, by its number.

declare(strict_types=1);

require __DIR__ . '/page.php';

$texts = glob(__DIR__ . '/content/article-*.html');

echo page(basename($texts[$number % count($texts)]), $number);
