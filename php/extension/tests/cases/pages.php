<?php

declare(strict_types=1);

return function (Runner $runner): void {
    $site = new Site();
    // The functions of the page, without what it does.
    ob_start();
    $_GET['do'] = 'start-plain,end';
    require dirname(__DIR__) . '/pages/page.php';
    ob_end_clean();
    $html = html();
    $ask = fn(string $do, ?string $accept = 'gzip', string $method = 'GET') => $site->get("page.php?do=$do", $accept, $method);
    $isAsItIs = function (string $do, ?string $accept = 'gzip') use ($ask): Response {
        $response = $ask($do, $accept);
        Expect::same(null, $response->field('content-encoding'), "Content-Encoding of $do");
        return $response;
    };

    $runner->test('a whole page has its coding, its length and Vary', function () use ($ask, $html): void {
        foreach (['start,html', 'start,html,end', 'start,html,exit', 'start,clean,html', 'start,small,clean,html'] as $do) {
            foreach (['gzip' => 'gzip', 'br' => 'br', 'zstd' => 'zstd', 'gzip, deflate, br, zstd' => 'zstd', 'gzip, br;q=0.5' => 'gzip'] as $accept => $coding) {
                $response = $ask($do, $accept);
                Expect::same($coding, $response->field('content-encoding'), "$do for $accept");
                Expect::same((string) strlen($response->body), $response->field('content-length'), 'Content-Length');
                Expect::true($response->varies(), "no Vary: $do for $accept");
                Expect::same($html, $response->page(), "$do for $accept");
            }
        }
        Expect::same('deflate', $ask('all,start,html', 'deflate')->field('content-encoding'));
        Expect::same('br', $ask('br-only,start,html', 'gzip, br, zstd')->field('content-encoding'));
        $longer = strlen($ask('start,html')->body);
        Expect::true(strlen($ask('level-9,start,html')->body) < $longer, 'level 9 is not smaller');
    });
    $runner->test('a client that takes nothing gets the page, with Vary', function () use ($isAsItIs, $html): void {
        foreach ([null, '', 'identity', 'gzip;q=0', '*;q=0', 'deflate', 'lzma', str_repeat('gzip,', 10_000) . 'gzip'] as $accept) {
            $response = $isAsItIs('start,html', $accept);
            Expect::same($html, $response->page());
            Expect::true($response->varies(), 'no Vary');
        }
    });
    $runner->test('the choice is that of the PHP side for any field', function () use ($site): void {
        mt_srand(22);
        $names = ['gzip', 'x-gzip', 'br', 'zstd', 'identity', '*', 'deflate', 'GZIP', 'lzma', ''];
        $ends = ['', '', '', ';q=0', ';q=1', ';q=0.5', '; q=0.501', ' ;Q=0.3', ';q=0.001', ';q=2', ';q=0.0000', ';q=', ';x=1', ' ; q = 1'];
        for ($i = 0; $i < 300; ++$i) {
            $members = [];
            for ($j = mt_rand(1, 5); $j > 0; --$j) {
                $members[] = $names[array_rand($names)] . $ends[array_rand($ends)];
            }
            $accept = implode(mt_rand(0, 1) === 1 ? ', ' : ',', $members);
            try {
                $coding = (new Weighbridge\Accept($accept))->choose(['zstd', 'br', 'gzip']);
            } catch (Weighbridge\Fault $refused) {
                $coding = null;
            }
            Expect::same($coding, $site->get('page.php?do=start,html', $accept)->field('content-encoding'), "the coding for \"$accept\"");
        }
    });
    $runner->test('what need not or must not be encoded is left alone', function () use ($isAsItIs, $html): void {
        Expect::same(null, $isAsItIs('start,small')->field('vary'), 'Vary of a small page');
        foreach (['png', 'encoded', 'no-transform', 'range', 'none'] as $reason) {
            if ($reason === 'encoded') {
                continue;
            }
            $response = $isAsItIs("$reason,start,html");
            Expect::same($html, $response->page(), $reason);
            Expect::same(null, $response->field('vary'), "Vary of $reason");
        }
        $isAsItIs('nothing,start');
        $isAsItIs('unchanged,start,html');
        $isAsItIs('start,noise');
    });
    $runner->test('nothing is encoded twice', function () use ($ask, $html): void {
        Expect::same('identity', $ask('encoded,start,html')->field('content-encoding'));
        foreach (['zlib,start,html', 'start,zlib,html', 'start-gz,start,html', 'start,start-gz,html'] as $do) {
            $response = $ask($do);
            Expect::same('gzip', $response->field('content-encoding'), $do);
            Expect::same($html, $response->page(), $do);
        }
        $twice = $ask('start,start,html');
        Expect::same('gzip', $twice->field('content-encoding'));
        Expect::true(str_ends_with($twice->page(), $html), 'a page with two handlers');
        Expect::same($html, $ask('start-closure,start-closure,html')->page(), 'a page with two handlers in closures');
        foreach (['clean,small', 'end-clean,small', 'flush,small', 'end,small'] as $then) {
            $inside = $ask("start-closure,html,flush,start-closure,html,$then")->page();
            $kept = str_contains($then, 'clean') ? '' : $html;
            Expect::same("{$html}{$kept}small", $inside, "a second one inside of a stream, then $then");
        }
    });
    $runner->test('where something below changes or holds output, it is left alone', function () use ($isAsItIs, $ask, $html): void {
        Expect::same(strtoupper($html), $isAsItIs('start-upper,start,html')->page());
        Expect::same("small$html", $isAsItIs('start-plain,small,start,html')->page());
        Expect::same('gzip', $ask('start-plain,start,html')->field('content-encoding'));
        Expect::same('gzip', $ask('start-closure,html')->field('content-encoding'));
        Expect::same(strtoupper($html), $ask('start,start-upper,html')->page());
    });
    $runner->test('errors of the application leave a whole page', function () use ($ask, $html): void {
        foreach (['start,html,throw', 'missing,start,html'] as $do) {
            $response = $ask($do);
            Expect::same('gzip', $response->field('content-encoding'), $do);
            Expect::same($html, $response->page(), $do);
        }
        Expect::same(500, $ask('start,html,throw')->status);
        // PHP itself discards what is buffered when its memory is used up, with any handler or none.
        $response = $ask('start,html,memory');
        Expect::same([500, '', null], [$response->status, $response->body, $response->field('content-encoding')]);
    });
    $runner->test('a flushed page is a stream, whose pieces can be decoded as they come', function () use ($site, $html): void {
        $flag = tempnam(sys_get_temp_dir(), 'weighbridge-flag-');
        foreach (['start', 'start-closure'] as $start) {
            unlink($flag);
            $socket = $site->ask("page.php?do=$start,length,html,flush,wait,html&until=" . urlencode($flag), 'gzip');
            $head = '';
            while (!str_ends_with($head, "\r\n\r\n")) {
                // Past PHP's own buffer: with some bytes in it, fread() waits for more.
                $head .= stream_socket_recvfrom($socket, 1);
            }
            Expect::true(!str_contains(strtolower($head), 'content-length'), 'the length of the page before encoding was sent');
            $inflate = inflate_init(ZLIB_ENCODING_GZIP);
            $page = '';
            // Ends only if all of the first piece arrives while the page waits.
            while (strlen($page) < strlen($html)) {
                $page .= inflate_add($inflate, stream_socket_recvfrom($socket, 8192), ZLIB_SYNC_FLUSH);
            }
            Expect::same($html, $page, 'the first piece');
            touch($flag);
            Expect::same($html, inflate_add($inflate, stream_get_contents($socket), ZLIB_SYNC_FLUSH), 'the second piece');
            fclose($socket);
        }
        unlink($flag);
    });
    $runner->test('a flushed page of any coding and shape is whole', function () use ($ask, $html): void {
        $shapes = [
            'start,html,flush,html' => "$html$html",
            'start,flush,html' => $html,
            'start,small,flush,flush,html,flush' => "small$html",
            'start,html,flush,exit' => $html,
            'start,html,flush,throw' => $html,
            'start,html,flush,memory' => $html,
            'start-pieces,big' => html(400_000),
            'start-pieces,big,flush,small' => html(400_000) . 'small',
            'start,html,flush,try-clean,small' => "{$html}small",
            'start,html,flush,try-end,small' => "{$html}small",
        ];
        foreach ($shapes as $do => $page) {
            foreach (['gzip', 'br', 'zstd'] as $coding) {
                $response = $ask($do, $coding);
                Expect::same($coding, $response->field('content-encoding'), $do);
                Expect::same(null, $response->field('content-length'), "Content-Length of $do");
                Expect::true($response->varies(), "no Vary: $do");
                Expect::same($page, $response->page(), "$do as $coding");
            }
        }
    });
    $runner->test('a page that is thrown away leaves no trace', function () use ($isAsItIs): void {
        Expect::same('small', $isAsItIs('start,html,end-clean,small')->page());
        Expect::same('small', $isAsItIs('start,html,clean,small')->page());
    });
    $runner->test('HEAD has the header of GET', function () use ($ask): void {
        foreach (['start,html', 'start,small', 'start,png,html'] as $do) {
            [$get, $head] = [$ask($do), $ask($do, 'gzip', 'HEAD')];
            foreach (['content-encoding', 'vary', 'content-length', 'etag'] as $field) {
                Expect::same($get->field($field), $head->field($field), "$field of $do");
            }
            Expect::same('', $head->body, 'the body');
        }
    });
    $runner->test('ETag and Vary of the application are kept as far as they can be', function () use ($ask): void {
        Expect::same('W/"abc"', $ask('etag,start,html')->field('etag'));
        Expect::same('"abc"', $ask('etag,start,html', null)->field('etag'));
        Expect::same('Cookie, accept-encoding, Origin', $ask('vary,start,html')->field('vary'));
        Expect::same('Cookie, Accept-Encoding', $ask('vary-cookie,start,html')->field('vary'));
    });
    $runner->test('php.ini names the handler', function () use ($html): void {
        $site = new Site(['output_handler' => 'weighbridge_output_handler', 'weighbridge.codings' => 'gzip,br']);
        Expect::same('gzip', $site->get('page.php?do=html', 'br, gzip')->field('content-encoding'));
        Expect::same($html, $site->get('page.php?do=html', 'br, gzip')->page());
        Expect::same("$html$html", $site->get('page.php?do=html,flush,html')->page());
        Expect::same("small$html", $site->get('page.php?do=small,start-plain,html,end')->page());
        $site->end();
    });
    $runner->test('a panic leaves the page as it is, and a stream ends where it was', function () use ($ask, $html): void {
        if (ini_get('weighbridge.fault') === false) {
            throw new Skip('a build without debug assertions has no faults', true);
        }
        $response = $ask('fault-page,start,html');
        Expect::same([null, $html], [$response->field('content-encoding'), $response->page()]);
        $response = $ask('start,html,flush,fault-piece,html');
        $page = inflate_add(inflate_init(ZLIB_ENCODING_GZIP), $response->body, ZLIB_SYNC_FLUSH);
        Expect::same($html, $page, 'what was sent before the panic, and nothing after it');
        Expect::same($html, $ask('start,html')->page(), 'the next page');
    });
    $runner->test('the server lived through all of it', function () use ($site): void {
        Expect::true(!str_contains($site->log(), 'Segmentation'), $site->log());
        Expect::same(200, $site->get('page.php?do=start,small')->status);
        $site->end();
    });
};
