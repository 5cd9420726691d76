<?php
/** A client of PHP-FPM for one GET at a time: the FastCGI protocol as far as that needs it. */
final class FastCgi
{
    const BEGIN = 1;
    const PARAMS = 4;
    const STDIN = 5;
    const STDOUT = 6;
    const END = 3;

    /**
     * @param array $server what the web server says besides, such as REMOTE_USER
     * @return string the response as the script gave it, with its fields
     */
    public static function get($socket, $script, array $query, array $headers, array $server = array())
    {
        $params = array(
            'REQUEST_METHOD' => 'GET', 'SCRIPT_FILENAME' => $script, 'QUERY_STRING' => http_build_query($query),
            'SERVER_PROTOCOL' => 'HTTP/1.1',
        ) + $server;
        foreach ($headers as $name => $value) {
            $params['HTTP_' . strtoupper(strtr($name, '-', '_'))] = $value;
        }
        $fields = '';
        foreach ($params as $name => $value) {
            $fields .= pack('NN', strlen($name) | 0x80000000, strlen($value) | 0x80000000) . $name . $value;
        }
        $stream = stream_socket_client("unix://$socket");
        stream_set_timeout($stream, Site::SECONDS);
        $begin = self::record(self::BEGIN, pack('nCx5', 1, 0));
        $params = self::record(self::PARAMS, $fields) . self::record(self::PARAMS, '');
        fwrite($stream, $begin . $params . self::record(self::STDIN, ''));
        $response = self::read($stream);
        fclose($stream);
        return $response;
    }

    private static function record($type, $content)
    {
        return pack('CCnnCx', 1, $type, 1, strlen($content), 0) . $content;
    }

    private static function read($stream)
    {
        $response = '';
        do {
            $head = self::exactly($stream, 8);
            $record = unpack('Cversion/Ctype/nid/nlength/Cpadding', $head);
            $content = self::exactly($stream, $record['length'] + $record['padding']);
            if ($record['type'] === self::STDOUT) {
                $response .= substr($content, 0, $record['length']);
            }
        } while ($record['type'] !== self::END);
        return $response;
    }

    private static function exactly($stream, $length)
    {
        $bytes = '';
        while (strlen($bytes) < $length) {
            $part = fread($stream, $length - strlen($bytes));
            if ($part === false || $part === '') {
                throw new Failure('PHP-FPM ended the connection in mid-answer');
            }
            $bytes .= $part;
        }
        return $bytes;
    }
}
