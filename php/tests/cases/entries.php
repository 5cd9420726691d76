<?php
/** Entry scripts: what they say of themselves, what they refuse, what they burn, and errors that must show. */

return function (Runner $runner, Lab $lab, $binary) {
    $home = dirname(dirname(__DIR__));
    $sites = new Sites($runner, $lab, $binary);
    $refused = array(
        'a path' => array('page.php', array('content' => '../page.html'), 400),
        'a path from the root' => array('page.php', array('content' => '/etc/passwd'), 400),
        'a backslash' => array('page.php', array('content' => 'a\\b'), 400),
        'a name with a dot first' => array('page.php', array('content' => '.htaccess'), 400),
        'a name with a zero byte' => array('page.php', array('content' => "page.html\0.txt"), 400),
        'a name with a line end' => array('page.php', array('content' => "page.html\n"), 400),
        'an unknown content' => array('page.php', array('content' => 'none.html'), 400),
        'a content given as a list' => array('page.php', array('content' => array('page.html')), 400),
        'no content' => array('page.php', array(), 400),
        'an unknown way' => array('page.php', array('way' => '../none'), 400),
        'a way for something else' => array('page.php', array('way' => 'readfile'), 400),
        'a level where there is none' => array('page.php', array('way' => 'none', 'level' => '1'), 400),
        'a level out of range' => array('page.php', array('way' => 'gzencode', 'level' => '10'), 400),
        'a level that is no number' => array('page.php', array('way' => 'gzencode', 'level' => "6\n"), 400),
        'an unknown option' => array('page.php', array('way' => 'none', 'peaces' => '2'), 400),
        'too many pieces' => array('page.php', array('way' => 'none', 'pieces' => '1001'), 400),
        'a burn that is too long' => array('burn.php', array('ms' => '5001'), 400),
        'a burn of less than nothing' => array('burn.php', array('ms' => '-1'), 400),
    );
    $sites->each(function ($title, Site $site) use ($runner, $home, $refused) {
        $runner->test("$title describes itself and every way", function () use ($site, $home) {
            $ways = array();
            $answer = $site->get('describe.php');
            Failure::unlessSame(200, $answer->status, $answer->body);
            $description = json_decode($answer->body, true);
            foreach ($description['ways'] as $way) {
                $ways[$way['name']] = $way;
                Failure::unless($way['missing'] === null || $way['remedy'] !== null, "{$way['name']} has no remedy");
                $described = array('kind', 'subjects', 'about', 'levels', 'options', 'codings', 'library');
                Failure::unlessSame(array(), array_diff($described, array_keys($way)), "{$way['name']} lacks");
            }
            $files = array_map(function ($file) {
                return basename($file, '.php');
            }, glob("$home/ways/*.php"));
            sort($files);
            Failure::unlessSame($files, array_keys($ways), 'ways');
            Failure::unless(isset($description['facts']['output_buffering'], $description['facts']['opcache']), 'facts');
        });
        foreach ($refused as $what => $case) {
            $runner->test("$title: $what is refused in one line", function () use ($site, $what, $case) {
                $query = $case[1] + ($what === 'no content' ? array() : array('content' => 'page.html'));
                $answer = $site->get($case[0], $query + array('way' => 'none'));
                Failure::unlessSame($case[2], $answer->status, $answer->body);
                Failure::unlessSame(1, substr_count($answer->body, "\n"), "lines of {$answer->body}");
                Failure::unlessSame(trim($answer->body), $answer->header('X-Weigh-Fault'), 'fault');
            });
        }

        $runner->test("$title: a burn says how much it burned", function () use ($site) {
            foreach (array(0, 20, 150) as $wanted) {
                $answer = $site->get('burn.php', array('ms' => $wanted));
                $form = '/^(\d+\.\d{3}); user=(\d+\.\d{3}); system=(\d+\.\d{3})$/';
                Failure::unless(preg_match($form, $answer->header('X-Weigh-Burned'), $match), 'header');
                // It stops at the first step that reaches the mark; a step takes some microseconds.
                Failure::unless($match[1] >= $wanted && $match[1] <= $wanted * 1.03 + 1, "{$match[1]} ms for $wanted");
                Failure::unless(abs($match[1] - $match[2] - $match[3]) < 0.002, "parts of {$match[0]}");
            }
        });
        $runner->test("$title: the light page is the same each time", function () use ($site) {
            $first = $site->get('light.php');
            Failure::unless(strlen($first->body) > 2000 && strpos($first->body, 'Item') !== false, 'page');
            Failure::unlessSame($first->body, $site->get('light.php')->body, 'second');
        });
    });

    $broken = array(
        'memory that runs out' => '$text = str_repeat("x", 1 << 30);',
        'an unknown function' => 'no_such_function();',
        'a warning' => 'fopen("/nonexistent/file", "r");',
        'a fault in an output buffer' => 'ob_start("ob_gzhandler"); echo "page"; no_such_function();',
    );
    foreach ($broken as $what => $code) {
        $runner->test("$what in a way shows as status 500 with its message", function () use ($sites, $code) {
            $way = "<?php return array('kind' => 'plain', 'subjects' => array('page'), 'send' => function () { $code });";
            $site = $sites->with(array('ways/broken.php' => $way));
            $query = array('content' => 'page.html', 'way' => 'broken');
            $answer = $site->get('page.php', $query, array('Accept-Encoding' => 'gzip'));
            $site->end();
            Failure::unlessSame(500, $answer->status, $answer->body);
            Failure::unlessSame(null, $answer->header('Content-Encoding'), 'coding');
            $said = preg_match('/memory size|no_such_function|nonexistent/', $answer->body) === 1;
            Failure::unless($said && strpos($answer->body, 'broken.php') !== false, $answer->body);
        });
    }
};
