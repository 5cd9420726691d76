<?php
/** Pages by every way: at the ends of its levels, in pieces, and under each Accept-Encoding. */

return function (Runner $runner, Lab $lab, $binary) {
    $sites = new Sites($runner, $lab, $binary);
    $page = Lab::text(60000);
    $accepts = array(
        'nothing said' => array(null, array()),
        'all codings' => array('gzip, deflate, br, zstd', array('gzip', 'br', 'zstd')),
        'one by quality' => array('br;q=1.0, gzip;q=0.8, zstd;q=0', array('gzip', 'br')),
        'identity preferred' => array('identity, gzip;q=0.5, br;q=0.5, zstd;q=0.5', array()),
        'a star' => array('*', array('gzip', 'br', 'zstd')),
        'a star that excludes' => array('identity, *;q=0', array()),
        'an empty field' => array('', array()),
        'an old name' => array('x-gzip', array('gzip')),
    );
    // PHP's own handlers negotiate as they please: their bodies are decoded by what they say, and no more.
    $strict = function (array $way) {
        return in_array($way['name'], array('gzencode', 'libdeflate', 'zstd', 'brotli'), true);
    };

    $levels = function ($title, array $way, $send) use ($runner, $page) {
        foreach (array('1', '4') as $pieces) {
            $runner->test("$title: {$way['name']} in $pieces at its levels", function () use ($way, $send, $pieces, $page) {
                $coding = $way['codings'] ? $way['codings'][0] : null;
                foreach ($way['levels'] ? array($way['levels']['min'], $way['levels']['max']) : array(null) as $level) {
                    $query = array('pieces' => $pieces) + ($level === null ? array() : array('level' => $level));
                    $answer = $send($query, $coding ?: 'gzip');
                    Failure::unlessSame(200, $answer->status, $answer->body);
                    Failure::unlessSame($coding, $answer->header('Content-Encoding'), 'coding');
                    Failure::unless($answer->decoded(strlen($page)) === $page, 'the body is not the page');
                    $length = $answer->header('Content-Length');
                    Failure::unless($length === null || (int) $length === strlen($answer->body), "length $length");
                    $promised = $pieces === '1' && strpos($way['about'], 'Content-Length') !== false;
                    Failure::unless($length !== null || !$promised, 'no Content-Length');
                }
            });
        }
    };
    $negotiation = function ($title, array $way, $send) use ($runner, $accepts, $strict, $page) {
        foreach ($accepts as $said => $case) {
            $runner->test("$title: {$way['name']}, $said", function () use ($way, $send, $case, $strict, $page) {
                $answer = $send($way['levels'] ? array('level' => 1) : array(), $case[0]);
                Failure::unlessSame(200, $answer->status, $answer->body);
                Failure::unless($answer->decoded(strlen($page)) === $page, 'the body is not the page');
                if ($strict($way)) {
                    $expected = in_array($way['codings'][0], $case[1], true) ? $way['codings'][0] : null;
                    Failure::unlessSame($expected, $answer->header('Content-Encoding'), "coding for {$case[0]}");
                    Failure::unlessSame('Accept-Encoding', $answer->header('Vary'), 'Vary');
                }
            });
        }
        $runner->test("$title: {$way['name']} with no identity and no coding", function () use ($way, $send, $strict) {
            Failure::unlessSame($strict($way) ? 406 : 200, $send(array(), 'identity;q=0')->status, 'status');
        });
    };

    $sites->each(function ($title, Site $site) use ($runner, $lab, $levels, $negotiation) {
        $extensions = array('ob_zstd_handler', 'zstd.output_compression', 'brotli.output_compression', 'weighbridge_output_handler');
        foreach (json_decode($site->get('describe.php')->body, true)['ways'] as $way) {
            if (!in_array('page', $way['subjects'], true)) {
                continue;
            }
            $there = false;
            $runner->test("$title: {$way['name']} is there", function () use ($lab, $way, $extensions, &$there) {
                $lab->need($way, in_array($way['name'], $extensions, true));
                $there = true;
            });
            $send = function (array $query, $accept) use ($site, $way) {
                $headers = $accept === null ? array() : array('Accept-Encoding' => $accept);
                return $site->get('page.php', array('content' => 'page.html', 'way' => $way['name']) + $query, $headers);
            };
            if ($there) {
                $levels($title, $way, $send);
                $negotiation($title, $way, $send);
            }
        }
    });
};
