<?php

declare(strict_types=1);

return function (Runner $runner): void {
    $site = new Site();
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
                // Where the handler ends before the script, more can follow.
                $length = str_ends_with($do, ',end') ? null : (string) strlen($response->body);
                Expect::same($length, $response->field('content-length'), 'Content-Length');
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
        Expect::same('Accept-Encoding', $isAsItIs('start,small')->field('vary'), 'Vary of a small page');
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
        foreach (['start-closure,html', 'start-closure,start-closure,html'] as $do) {
            Expect::same($html, $ask($do)->page(), "the handler called from others: $do");
        }
    });
    $runner->test('where something below changes or holds output, it is left alone', function () use ($isAsItIs, $ask, $html): void {
        Expect::same(strtoupper($html), $isAsItIs('start-upper,start,html')->page());
        Expect::same("small$html", $isAsItIs('start-plain,small,start,html')->page());
        Expect::same($html, $isAsItIs('start-plain,start,html')->page());
        Expect::same($html, $isAsItIs('start-plain,start,html,end,flush')->page());
        Expect::same($html, $isAsItIs('start-closure,html')->page());
        Expect::same('gzip', $ask('start,start-upper,html')->field('content-encoding'));
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
        foreach (['flush', 'flush-only', 'implicit,end'] as $way) {
            unlink($flag);
            $socket = $site->ask("page.php?do=start,length,html,$way,wait,html&until=" . urlencode($flag), 'gzip');
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
            'start,html,end,memory' => $html,
            'start-pieces,big' => html(400_000),
            'start-pieces,big,flush,small' => html(400_000) . 'small',
            'start,html,flush,try-clean,small' => "{$html}small",
            'start,html,flush,try-end,small' => "{$html}small",
            'start,html,end,small' => "{$html}small",
            'start,html,end,small,html,flush-only,small' => "{$html}small{$html}small",
            'start,html,end-all,small,html' => "{$html}small{$html}",
            'start,html,end,capture,small,end,html' => "{$html}small{$html}",
            'start,length-of-others,html,end-at-shutdown' => $html,
            'start,html,end-at-shutdown,html-at-shutdown' => "{$html}{$html}",
            'start,html,flush-only,start-plain,small,end-clean,small' => "{$html}small",
            'start,html,flush,end,start,small' => "{$html}small",
            'start,flush-only,html' => $html,
        ];
        foreach ($shapes as $do => $page) {
            foreach (['gzip', 'br', 'zstd'] as $coding) {
                $response = $ask($do, $coding);
                Expect::same($coding, $response->field('content-encoding'), $do);
                Expect::same(null, $response->field('content-length'), "Content-Length of $do");
                Expect::true($response->varies(), "no Vary: $do");
                try {
                    Expect::same($page, $response->page(), "$do as $coding");
                } catch (ErrorException $error) {
                    throw new Failure("$do as $coding: {$error->getMessage()}");
                }
            }
        }
    });
    $runner->test('what is captured stays where it is when the page is flushed', function () use ($ask, $html): void {
        Expect::same($html, $ask('start,capture,small,flush-only,end-clean,html')->page());
    });
    $runner->test('the page that others keep below is not encoded', function () use ($site, $html): void {
        $store = tempnam(sys_get_temp_dir(), 'weighbridge-store-');
        foreach (['capture,start,html,end,store', 'capture,start,html,flush,small,end,store'] as $do) {
            $response = $site->get("page.php?do=$do&store=" . urlencode($store));
            Expect::same(null, $response->field('content-encoding'), $do);
            Expect::same((string) file_get_contents($store), $response->body, $do);
            Expect::true(str_starts_with($response->body, $html), $do);
        }
        unlink($store);
    });
    $runner->test('streams are not held', function () use ($site): void {
        $flag = tempnam(sys_get_temp_dir(), 'weighbridge-flag-');
        $ways = ['start,events', 'events,start', 'start,small,events', 'start,ndjson', 'start,unbuffered', 'unbuffered,start'];
        foreach ($ways as $way) {
            unlink($flag);
            $socket = $site->ask("page.php?do=$way,small,wait,small&until=" . urlencode($flag), 'gzip, br, zstd');
            $got = '';
            // Ends only if the first word arrives while the page waits.
            while (!str_ends_with($got, 'small')) {
                $got .= stream_socket_recvfrom($socket, 8192);
            }
            Expect::true(stripos($got, 'content-encoding') === false, "$way is encoded");
            touch($flag);
            Expect::same('small', stream_get_contents($socket), $way);
            fclose($socket);
        }
        unlink($flag);
    });
    $runner->test('large pages of any kind need no memory', function (): void {
        $site = new Site(['memory_limit' => '64M']);
        $file = tempnam(sys_get_temp_dir(), 'weighbridge-file-');
        $handle = fopen($file, 'r+');
        ftruncate($handle, 300_000_000);
        fclose($handle);
        foreach (['start,file', 'file', 'start-pieces,file', 'start,html,file', 'start,length,file', 'start,passthru', 'start,copy'] as $do) {
            foreach (['gzip' => 'gzip', 'zstd' => 'zstd', 'br' => 'br', 'identity' => null] as $accept => $coding) {
                if ($do !== 'start,file' && $accept !== 'zstd') {
                    continue;
                }
                $socket = $site->ask("page.php?do=level-1,$do&file=" . urlencode($file), $accept);
                for ($bytes = 0, $head = ''; !feof($socket);) {
                    $piece = fread($socket, 1 << 16);
                    $head .= strlen($head) < 4096 ? $piece : '';
                    $bytes += strlen($piece);
                }
                fclose($socket);
                Expect::true(str_starts_with($head, 'HTTP/1.1 200'), "$do as $accept: " . substr($head, 0, 40));
                $enough = $coding === null ? 300_000_000 : 5_000;
                Expect::true($bytes >= $enough, "$do as $accept: $bytes bytes; " . substr($site->log(), -200));
                Expect::same($coding !== null && $do !== 'file', str_contains(strtolower($head), 'content-encoding'), "$do as $accept");
            }
        }
        $other = $site->get('page.php?do=start,copy-elsewhere,html&file=' . urlencode($file));
        Expect::true($other->field('content-length') !== null, 'a page beside a large copy is no stream');
        unlink($file);
        foreach (['start,echo-40M', 'start,html,echo-40M'] as $do) {
            $response = $site->get("page.php?do=level-1,$do", 'zstd');
            Expect::same(200, $response->status, $do . substr($site->log(), -200));
            Expect::true(str_ends_with($response->page(), "the same again                         \n"), $do);
        }
        Expect::true(!str_contains($site->log(), 'Allowed memory'), $site->log());
        $site->end();
    });
    $runner->test('what the application compares matches, and what has not changed has the fields of the page', function () use ($site, $html): void {
        $page = $site->get('page.php?do=start,compare,html');
        Expect::same('W/"abc"', $page->field('etag'));
        foreach (['start,compare,html', 'start-pieces,compare,html'] as $do) {
            $same = $site->get("page.php?do=$do", 'gzip', 'GET', ['If-None-Match' => $page->field('etag')]);
            Expect::same([304, ''], [$same->status, $same->body], $do);
            foreach (['etag', 'vary', 'cache-control'] as $field) {
                Expect::same($page->field($field), $same->field($field), "$field of $do");
            }
        }
        $plain = $site->get('page.php?do=start,compare,html', null, 'GET', ['If-None-Match' => '"abc"']);
        Expect::same([304, '"abc"'], [$plain->status, $plain->field('etag')]);
        $other = $site->get('page.php?do=start,compare,html', 'gzip', 'GET', ['If-None-Match' => 'W/"def"']);
        Expect::same($html, $other->page());
    });
    $runner->test('against BREACH nothing is encoded for other sites, and no shared cache keeps that', function () use ($site, $html): void {
        $fields = ['Cookie' => 'session=1', 'Sec-Fetch-Site' => 'cross-site'];
        $response = $site->get('page.php?do=start,html', 'gzip', 'GET', $fields);
        Expect::same([null, 'private', $html], [$response->field('content-encoding'), $response->field('cache-control'), $response->body]);
        $flushed = $site->get('page.php?do=start,html,flush,html', 'gzip', 'GET', $fields);
        Expect::same([null, "$html$html"], [$flushed->field('content-encoding'), $flushed->body]);
        foreach (['same-site', 'same-origin', 'none'] as $from) {
            $response = $site->get('page.php?do=start,html', 'gzip', 'GET', ['Sec-Fetch-Site' => $from] + $fields);
            Expect::same(['gzip', null], [$response->field('content-encoding'), $response->field('cache-control')], $from);
        }
        $off = $site->get('page.php?do=breach-off,start,html', 'gzip', 'GET', $fields);
        Expect::same('gzip', $off->field('content-encoding'));
    });
    $runner->test('a client that goes away leaves nothing to the next one', function () use ($html): void {
        $flag = tempnam(sys_get_temp_dir(), 'weighbridge-flag-');
        foreach (['start,' => [], '' => ['output_handler' => 'weighbridge_output_handler']] as $start => $settings) {
            $site = new Site($settings);
            foreach (['html,flush,wait,html,flush,html', 'html,end,flush-only,wait,big,flush-only'] as $do) {
                foreach (['gzip', 'br', 'zstd'] as $coding) {
                    unlink($flag);
                    $socket = $site->ask("page.php?do=$start$do&until=" . urlencode($flag), $coding);
                    stream_socket_recvfrom($socket, 100);
                    fclose($socket);
                    touch($flag);
                    $response = $site->get("page.php?do={$start}html", 'gzip');
                    Expect::same(['gzip', $html], [$response->field('content-encoding'), $response->page()], "after $do as $coding");
                }
            }
            $site->end();
        }
        unlink($flag);
    });
    $runner->test('what ended the handler and sends another page sends it whole', function () use ($ask, $html): void {
        $response = $ask('start,html,flush-only,end-all,html', 'br');
        Expect::same("$html$html", $response->page());
        // With a buffer of php.ini below, nothing has been sent when the fields go.
        $site = new Site(['output_buffering' => '1000000']);
        $response = $site->get('page.php?do=start,html,end,end-clean,forget,html', 'gzip');
        Expect::same([null, $html], [$response->field('content-encoding'), $response->page()]);
        $site->end();
    });
    $runner->test('the buffer of php.ini is no obstacle', function () use ($html): void {
        foreach (['4096', 'On', '1000000'] as $bytes) {
            $site = new Site(['output_buffering' => $bytes]);
            $get = fn(string $do) => $site->get("page.php?do=$do", 'gzip');
            $whole = $get('start,html');
            Expect::same(['gzip', (string) strlen($whole->body)], [$whole->field('content-encoding'), $whole->field('content-length')], $bytes);
            Expect::same($html, $whole->page(), $bytes);
            Expect::same("{$html}small", $get('start,html,end,small')->page(), $bytes);
            Expect::same("$html$html", $get('start,html,flush-only,html')->page(), $bytes);
            Expect::same("{$html}small", $get('start,html,end-all,small')->page(), $bytes);
            $below = $get('small,start,html');
            Expect::same([null, "small$html"], [$below->field('content-encoding'), $below->body], $bytes);
            $other = $get('end-clean,capture,start,html');
            Expect::same([null, $html], [$other->field('content-encoding'), $other->body], $bytes);
            $flag = tempnam(sys_get_temp_dir(), 'weighbridge-flag-');
            foreach (['start,unbuffered,small,flush-only', 'start,html,flush-only', 'start,html,end-all,flush-only'] as $do) {
                unlink($flag);
                $socket = $site->ask("page.php?do=$do,wait&until=" . urlencode($flag), 'zstd');
                for ($got = ''; !preg_match('/\r\n\r\n./s', $got);) {
                    $got .= stream_socket_recvfrom($socket, 8192);
                }
                touch($flag);
                Expect::true(!str_contains(stream_get_contents($socket), 'did not read'), "$do with $bytes");
                fclose($socket);
            }
            unlink($flag);
            $site->end();
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
        Expect::same(null, $ask('ranges,start,html')->field('accept-ranges'));
        Expect::same('bytes', $ask('ranges,start,html', null)->field('accept-ranges'));
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
