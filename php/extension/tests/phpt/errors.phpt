--TEST--
Wrong arguments are ValueErrors, wrong data is a RuntimeException
--EXTENSIONS--
weighbridge
--FILE--
<?php
foreach ([
    fn() => weighbridge_encode('a', 'lzma'),
    fn() => weighbridge_encode('a', 'gzip', 13),
    fn() => weighbridge_encode('a', 'br', null, 'words'),
    fn() => weighbridge_decode('a', 'gzip', -1),
    fn() => new WeighbridgeEncoder('zstd', 20),
    fn() => weighbridge_decode('garbage', 'br', 100),
    fn() => weighbridge_decode(weighbridge_encode('abc', 'gzip'), 'gzip', 2),
] as $call) {
    try {
        $call();
    } catch (Throwable $error) {
        echo get_class($error), ': ', $error->getMessage(), "\n";
    }
}
?>
--EXPECTF--
ValueError: unknown coding "lzma"; known are gzip, deflate, zlib, br and zstd
ValueError: gzip has no level 13; its levels are 0 to 12
ValueError: br takes no dictionary; zstd does
ValueError: max_bytes is -1; it is the most bytes that may come out, 0 or more
ValueError: zstd has no level 20; its levels are -7 to 19
RuntimeException: the br data is damaged: %s
RuntimeException: the gzip data decodes to more than the 2 bytes allowed
