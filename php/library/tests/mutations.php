<?php

/**
 * Changes that break what the library promises, each of which a test must notice: `bin/mutate --named=tests/mutations.php`.
 * A promise; the file below src; the text, which is there once; the text in its place.
 */

declare(strict_types=1);

return [
    ['a script that ends its buffers goes on', 'OutputHandler.php', '$goesOn = !$isEnd &&', '$goesOn = false &&'],
    ['a page goes on in another buffer', 'OutputHandler.php', 'ob_start($next, 1);', ''],
    ['a length is said only where nothing can follow', 'OutputHandler.php', 'self::send($isEnd ||', 'self::send(true ||'],
    ['what the end of a buffer flushed is not dropped', 'OutputHandler.php', '$this->kept = strlen($this->held);', ''],
    ['nothing follows the end of a stream', 'OutputHandler.php', "                fastcgi_finish_request();\n", ''],
    ['an early end is one', 'OutputHandler.php', "FINISHING = ['', 'fastcgi_finish_request',", "FINISHING = ['',"],
    ['a page is held up to a bound', 'OutputHandler.php', 'MAX_HELD = 1 << 18', 'MAX_HELD = 1 << 28'],
    ['a page that memory has no room for leaves as it is', 'OutputHandler.php', '> $room) {', '> PHP_INT_MAX) {'],
    ['a large page is not copied', 'OutputHandler.php', ' || ($isTooLarge && $this->held !== \'\')', ''],
    ['a stream is encoded in pieces', 'OutputHandler.php', 'PIECE = 1 << 15', 'PIECE = 1 << 28'],
    ['a download is sent in pieces', 'Download.php', 'PIECE = 1 << 17', 'PIECE = 1 << 28'],
    ['a large body of PSR-7 is not read', 'Psr15/EncodingMiddleware.php', ' && $size <= self::MAX_BYTES', ''],
    ['a pipe is not read', 'Psr15/EncodingMiddleware.php', ' && $size > 0', ''],
    ['events are not held', 'Head.php', 'text/event-stream|', ''],
    ['what a proxy is not to hold is not held', 'Head.php', " || \$this->lists('x-accel-buffering', 'no')", ''],
    ['a flush reaches the client', 'OutputHandler.php', '$isFlushed ? $this->stream->flush() : \'\'', "''"],
    ['the buffer of php.ini holds nothing back', 'OutputHandler.php', 'if (self::isInBufferOfPhpIni())', 'if (false)'],
    ['a stream is not held until it is long', 'OutputHandler.php', '&& Head::current()->isStream()', '&& false'],
    ['buffers of others are left alone', 'OutputHandler.php', 'ob_get_level() > 0 || headers_sent()', 'headers_sent()'],
    ['downloads of Symfony are left alone', 'Symfony/ResponseEncoder.php', '$response instanceof DownloadResponse', 'false'],
    [
        'fragments are left alone', 'Symfony/ResponseEncoder.php',
        "isMainRequest()) {\n            \$this->encode",
        "getRequest()) {\n            \$this->encode",
    ],
    ['values are what every PHP reads', 'Settings.php', "extension_loaded('zlib') ? 'deflate'", "true ? 'zstd'"],
    ['a dictionary that is absent is an error', 'Envelope.php', "if (\$content === '') {", 'if (false) {'],
    [
        'a value of another dictionary is refused', 'Envelope.php',
        '$this->dictionaries[(string) substr($body, 0, 4)] ?? null',
        'current($this->dictionaries)',
    ],
    [
        'each dictionary of a list is read', 'Envelope.php',
        '$this->dictionaries[self::sum($content)] = $content',
        '$this->dictionaries = [self::sum($content) => $content]',
    ],
    ['a value that was changed is refused', 'Envelope.php', '!== self::sum($body, $stored[0])', "=== ''"],
    ['a codec that is absent is refused', 'Envelope.php', 'if ($binding === null) {', 'if (false) {'],
    ['a value that cannot be opened is not encoded', 'Envelope.php', ' || $size > $this->maxBytes', ''],
    [
        'the application sees the tags that it gave', 'OutputHandler.php',
        'array_intersect_key($tags, $_SERVER) + $_SERVER',
        '$_SERVER',
    ],
    ['a 304 has the tag of its 200', 'Page.php', '$fields + ($isAsked ? $weakened : [])', '$fields'],
    [
        'a 304 of a file has the fields of its 200', 'Download.php',
        '($status === 412 ? [] : $fields)',
        '($status !== 200 ? [] : $fields)',
    ],
    ['a page of a sibling domain is no attacker', 'Request.php', "'same-origin', 'same-site',", "'same-origin',"],
    [
        'a token that a script sends is no secret of the browser', 'Request.php',
        "'negotiate', 'ntlm'",
        "'negotiate', 'bearer'",
    ],
    ['what is withheld is not stored for all', 'Page.php', '$fields + ($isStored ?', '$fields + (false ?'],
    ['a store of Laravel adds by itself', 'Laravel/EncodedStore.php', "method_exists(\$this->inner, 'add')", 'false'],
    ['a made-up ID leaves no file', 'Session/EncodedSessionHandler.php', 'parent::destroy($id);', ''],
    ['a made-up ID leaves no lock', 'Session/EncodedSessionHandler.php', "'memcached.sess_locking', ", ''],
    ['a session of before is read', 'Session/EncodedSessionHandler.php', 'self::isOfBefore($stored) ?', 'false ?'],
    ['a session that was changed is not read', 'Session/EncodedSessionHandler.php', '[^\x00-\x1f\x7f]', '.'],
    ['a session is not held by a download', 'Download.php', 'session_write_close();', ''],
    ['an encoded page has no ranges', 'Page.php', ", 'Accept-Ranges' => null", ''],
];
