--TEST--
What is encoded comes back, whole and in pieces
--EXTENSIONS--
weighbridge
--FILE--
<?php
$page = str_repeat('<p>Call me Ishmael.</p>', 100);
foreach (['gzip', 'deflate', 'br', 'zstd'] as $coding) {
    $encoder = new WeighbridgeEncoder($coding);
    $pieces = $encoder->add($page) . $encoder->flush() . $encoder->finish();
    foreach ([weighbridge_encode($page, $coding), $pieces] as $encoded) {
        var_dump(strlen($encoded) < 200 && weighbridge_decode($encoded, $coding, strlen($page)) === $page);
    }
}
var_dump(weighbridge_decode(weighbridge_encode($page, 'zstd', 9, $page), 'zstd', 3000, $page) === $page);
?>
--EXPECT--
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
