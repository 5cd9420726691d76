<?php

// What pages share: a text, the assets that go with it, and a table from cached values.

declare(strict_types=1);

function page(string $text, int $number): string
{
    $html = file_get_contents(__DIR__ . '/content/' . $text);
    $assets = json_decode(file_get_contents(__DIR__ . '/assets.json'), true);
    $more = $assets['more'][$number % count($assets['more'])];
    $html = str_replace('</head>', links(array_merge($assets['common'], $more)) . '</head>', $html);

    return str_replace('</body>', related($number) . '</body>', $html);
}

function links(array $paths): string
{
    $html = '';
    foreach ($paths as $path) {
        $html .= match (pathinfo($path, PATHINFO_EXTENSION)) {
            'css' => "<link rel=\"stylesheet\" href=\"$path\">\n",
            'js' => "<script defer src=\"$path\"></script>\n",
            'woff2' => "<link rel=\"preload\" as=\"font\" crossorigin href=\"$path\">\n",
            'json', 'wasm' => "<link rel=\"preload\" as=\"fetch\" crossorigin href=\"$path\">\n",
            default => "<link rel=\"preload\" as=\"image\" href=\"$path\">\n",
        };
    }

    return $html;
}

// The work of a page: rows from the cache, sorted and shown.
function related(int $number): string
{
    $rows = [];
    foreach (glob(dirname(__DIR__) . '/values/rows-*') as $at => $file) {
        if ($at % 8 === $number % 8) {
            array_push($rows, ...unserialize(file_get_contents($file), ['allowed_classes' => false]));
        }
    }
    usort($rows, fn (array $a, array $b): int => strcmp(serialize($a), serialize($b)));
    $html = "<table>\n";
    foreach (array_slice($rows, 0, 10) as $row) {
        $cells = array_map(fn ($cell): string => htmlspecialchars((string) $cell), array_filter($row, 'is_scalar'));
        $html .= '<tr><td>' . implode('</td><td>', array_slice($cells, 0, 4)) . "</td></tr>\n";
    }

    return $html . "</table>\n";
}
