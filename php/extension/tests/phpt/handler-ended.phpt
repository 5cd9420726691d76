--TEST--
What follows the end of the output handler is still of the page
--EXTENSIONS--
weighbridge
--CGI--
--INI--
output_handler=weighbridge_output_handler
weighbridge.codings=gzip
weighbridge.level=0
--ENV--
HTTP_ACCEPT_ENCODING=gzip
--FILE--
<?php
echo str_repeat('<p>first</p>', 100);
while (ob_get_level() > 0) {
    ob_end_flush();
}
echo '<p>second</p>';
?>
--EXPECTHEADERS--
Content-Encoding: gzip
Vary: Accept-Encoding
--EXPECTREGEX--
[\s\S]*(?:<p>first<\/p>){100}[\s\S]*<p>second<\/p>[\s\S]+
