<?php
/**
 * What a minifying endpoint in PHP does for a file that it has minified before: it loads its code, looks whether the
 * file changed, and sends what it kept. The body is the source, byte for byte.
 *
 * Its code is this project's own, every class in lib/: some 60 files with 4,700 lines, which is what such an endpoint
 * loads, so that it matters whether opcache has them.
 */

use Weighbridge\Delivery;
use Weighbridge\Fault;

return array(
    'kind' => 'pre-encoded',
    'codings' => array('gzip'),
    'subjects' => array('asset'),
    'options' => array(
        'opcache' => array(
            'words' => array('on', 'off'),
            'about' => 'a pool of PHP-FPM with or without opcode cache, which preloads nothing; without the option: the pool of the others, '
                . 'which has preloaded the classes where PHP can',
        ),
    ),
    'about' => 'PHP loads every class of lib/, makes an ETag of the file\'s time and length, answers 304 to it, and else sends '
        . 'NAME.gz where that lies beside and gzip is accepted, or NAME, by readfile()',
    'send' => function (Delivery $delivery) {
        $asked = $delivery->params->option('opcache', '');
        if ($asked !== '' && ($asked === 'on') !== (bool) ini_get('opcache.enable')) {
            throw new Fault('missing', "opcache is not $asked in this PHP", 'load the extension opcache in PHP-FPM');
        }
        foreach (glob(dirname(__DIR__) . '/lib/*.php') as $file) {
            // By the autoloader, unless they were preloaded.
            class_exists('Weighbridge\\' . basename($file, '.php'));
        }
        $coding = $delivery->negotiate(array('gzip'));
        $variant = $coding === null ? null : $delivery->content->variant('gz');
        $path = $variant ?: $delivery->content->path;
        $tag = sprintf('"%x-%x%s"', filemtime($delivery->content->path), filesize($path), $variant === null ? '' : '-gz');
        header("ETag: $tag");
        header('Cache-Control: max-age=0, must-revalidate');
        $known = isset($_SERVER['HTTP_IF_NONE_MATCH']) ? $_SERVER['HTTP_IF_NONE_MATCH'] : '';
        if (in_array($tag, array_map('trim', explode(',', str_replace('W/', '', $known))), true)) {
            http_response_code(304);
            return;
        }
        if ($variant !== null) {
            header('Content-Encoding: gzip');
        }
        Delivery::endBuffers();
        header('Content-Length: ' . filesize($path));
        readfile($path);
    },
);
