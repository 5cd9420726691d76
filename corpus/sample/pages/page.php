<?php

// What pages share: a text, the assets that go with it, articles like it, and a table from cached values.

declare(strict_types=1);

function page(string $text, int $number): string
{
    $html = file_get_contents(__DIR__ . '/content/' . $text);
    $assets = json_decode(file_get_contents(__DIR__ . '/assets.json'), true);
    $more = $assets['more'][$number % count($assets['more'])];
    $html = str_replace('</head>', links(array_merge($assets['common'], $more)) . '</head>', $html);

    return str_replace('</body>', alike($text) . related($number) . '</body>', $html);
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

// What to read next: the articles whose texts have the most words in common with this one.
function alike(string $text): string
{
    $own = words(file_get_contents(__DIR__ . '/content/' . $text));
    $shared = $titles = [];
    $files = glob(__DIR__ . '/content/article-*.html');
    foreach ($files as $at => $file) {
        $html = file_get_contents($file);
        if (basename($file) !== $text) {
            $shared[$at] = count(array_intersect_key($own, words($html)));
            $titles[$at] = preg_match('~<title>([^<]*)</title>~i', $html, $match) ? trim($match[1]) : basename($file);
        }
    }
    arsort($shared);
    $list = '';
    foreach (array_slice(array_keys($shared), 0, 3) as $at) {
        $list .= '<li><a href="/article/' . ($at ?: count($files)) . '">' . $titles[$at] . "</a></li>\n";
    }

    return "<ul>\n$list</ul>\n";
}

// The words of a text, each with how often it has it.
function words(string $html): array
{
    return array_count_values(str_word_count(strtolower(strip_tags($html)), 1));
}

// Rows from the cache, sorted and shown.
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
