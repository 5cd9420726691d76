<?php
/** Downloads by every way, and the asset endpoint. */

return function (Runner $runner, Lab $lab, $binary) {
    $sites = new Sites($runner, $lab, $binary);
    $page = Lab::text(60000);
    $noise = Lab::noise(100000);
    $sites->each(function ($title, Site $site) use ($runner, $page, $noise) {
        foreach (array('fpassthru', 'readfile', 'fread') as $name) {
            $runner->test("$title: a download by $name", function () use ($site, $name, $noise) {
                $answer = $site->get('download.php', array('content' => 'photo.jpg', 'way' => $name));
                Failure::unlessSame(200, $answer->status, $answer->body);
                Failure::unless($answer->body === $noise, 'the body is not the file');
                Failure::unlessSame('100000', $answer->header('Content-Length'), 'length');
                Failure::unlessSame('image/jpeg', $answer->header('Content-Type'), 'type');
                $named = strpos($answer->header('Content-Disposition'), 'filename="photo.jpg"') !== false;
                Failure::unless($named, (string) $answer->header('Content-Disposition'));
                $empty = $site->get('download.php', array('content' => 'empty.txt', 'way' => $name));
                Failure::unlessSame(array(200, ''), array($empty->status, $empty->body), 'an empty file');
            });
        }
        $offloads = array('x-sendfile' => realpath($site->contents) . '/photo.jpg', 'x-accel-redirect' => '/offload/photo.jpg');
        foreach ($offloads as $name => $value) {
            $runner->test("$title: $name is authorised", function () use ($site, $name, $value) {
                $query = array('content' => 'photo.jpg', 'way' => $name);
                $answer = $site->get('download.php', $query + array('token' => Site::TOKEN));
                Failure::unlessSame(array(200, ''), array($answer->status, $answer->body), 'status and body');
                Failure::unlessSame($value, $answer->header($name), 'header');
                foreach (array(array(), array('token' => ''), array('token' => Site::TOKEN . 'x')) as $wrong) {
                    $answer = $site->get('download.php', $query + $wrong);
                    Failure::unlessSame(array(403, null), array($answer->status, $answer->header($name)), 'refusal');
                }
            });
        }
        $runner->test("$title: the minifier sends source, variant and 304", function () use ($site, $page) {
            $query = array('content' => 'app.js', 'way' => 'minifier');
            $plain = $site->get('asset.php', $query);
            Failure::unless($plain->body === $page && $plain->header('Content-Encoding') === null, 'source');
            $gzip = $site->get('asset.php', $query, array('Accept-Encoding' => 'gzip'));
            Failure::unlessSame('gzip', $gzip->header('Content-Encoding'), $gzip->body);
            Failure::unless($gzip->decoded(strlen($page)) === $page, 'variant');
            Failure::unless($gzip->header('ETag') !== $plain->header('ETag'), 'variants have tags of their own');
            $again = $site->get('asset.php', $query, array('If-None-Match' => $plain->header('ETag')));
            Failure::unlessSame(array(304, ''), array($again->status, $again->body), 'revalidation');
        });
    });
};
