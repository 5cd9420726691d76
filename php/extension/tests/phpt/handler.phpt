--TEST--
The output handler encodes a whole page, with its length
--EXTENSIONS--
weighbridge
--CGI--
--INI--
output_handler=weighbridge_output_handler
weighbridge.codings=gzip
--ENV--
HTTP_ACCEPT_ENCODING=gzip
--FILE--
<?php
echo str_repeat('<p>Call me Ishmael.</p>', 100);
?>
--EXPECTHEADERS--
Content-Encoding: gzip
Vary: Accept-Encoding
Content-Length: 62
--EXPECTREGEX--
[\s\S]{20,62}
