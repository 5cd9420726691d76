<?php

declare(strict_types=1);

return function (Runner $runner): void {
    $html = html();
    $runner->test('under PHP-FPM every page is whole', function () use ($html): void {
        foreach (['0', '4096'] as $buffering) {
            $fpm = new Fpm(['output_buffering' => $buffering]);
            $shapes = [
                'start,html' => [$html, true],
                'start,html,finish,html' => [$html, true],
                'start,html,flush-only,html,finish,html' => ["$html$html", false],
                'start,html,end,small,finish,html' => ["{$html}small", false],
                'start,html,end-all,small' => ["{$html}small", false],
                'start,html,end-at-shutdown,html-at-shutdown' => ["$html$html", false],
                'start,html,end-at-shutdown,finish' => [$html, true],
                'start,html,flush,html,flush-only,small' => ["$html{$html}small", false],
                // Before 8.4 a flush without a body sends nothing.
                'start,flush-only,html' => [$html, PHP_VERSION_ID < 80400],
                'start,html,throw' => [$html, true],
                'start,html,end,memory' => [$html, false],
            ];
            foreach ($shapes as $do => [$page, $hasLength]) {
                foreach (['gzip', 'br', 'zstd'] as $coding) {
                    $response = $fpm->get($do, $coding);
                    Expect::same($coding, $response->field('content-encoding'), "$do with $buffering");
                    Expect::same($hasLength, $response->field('content-length') !== null, "Content-Length of $do with $buffering");
                    Expect::same($page, $response->page(), "$do as $coding with $buffering");
                }
            }
            foreach (['start,finish,html', 'start,small,finish'] as $do) {
                Expect::same(null, $fpm->get($do)->field('content-encoding'), $do);
            }
            $fpm->end();
        }
    });
    $runner->test('under PHP-FPM php.ini names the handler, and large pages need no memory', function () use ($html): void {
        $fpm = new Fpm(['output_handler' => 'weighbridge_output_handler', 'memory_limit' => '16M', 'weighbridge.level' => '1']);
        $file = tempnam(sys_get_temp_dir(), 'weighbridge-file-');
        file_put_contents($file, str_repeat(md5($file), 1_000_000));
        $response = $fpm->get('file', 'zstd', [], ['file' => $file]);
        Expect::same(str_repeat(md5($file), 1_000_000), $response->page(), 'the file');
        unlink($file);
        Expect::same($html, $fpm->get('html')->page());
        $same = $fpm->get('compare,html', 'gzip', ['If-None-Match' => 'W/"abc"']);
        Expect::same([304, 'W/"abc"', 'Accept-Encoding'], [$same->status, $same->field('etag'), $same->field('vary')]);
        foreach (['REMOTE_USER' => 'a', 'PHP_AUTH_USER' => 'a', 'SSL_CLIENT_VERIFY' => 'SUCCESS'] as $name => $value) {
            foreach ([$value => null, '' => 'gzip'] as $sent => $coding) {
                $response = $fpm->get('html', 'gzip', ['Sec-Fetch-Site' => 'cross-site'], [], 'page.php', [$name => $sent]);
                Expect::same([$coding, 'Accept-Encoding'], [$response->field('content-encoding'), $response->field('vary')], "$name=$sent");
            }
        }
        Expect::true(!str_contains($fpm->log(), 'memory') && !str_contains($fpm->log(), 'SIG'), $fpm->log());
        $fpm->end();
    });
};
