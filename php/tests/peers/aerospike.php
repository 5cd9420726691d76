<?php
/**
 * Speaks as an Aerospike server does, and as one that is broken: keeps records, and does to the answers of the next
 * requests what a test told it. Its reading of requests is its own and strict: what is not as an official client
 * sends it gets the result code 4.
 *
 * Reads a JSON object a line on stdin and answers one, with its port:
 *
 *     {"next": [DEED, ...]}   a deed for each of the next requests; {} is a right answer
 *     {"info": {"build": "8.1.2.0", ...}}   what the info protocol answers
 *     {"requests": true}      -> the requests on records since the last time, in hexadecimal
 *
 * DEED: {"code": 13}, {"raw": "hex"}, {"split": true} one byte at a time, {"keep": 9} only this many bytes and the end,
 * {"stall": 9} only this many bytes and silence, {"pause": 9} after this many bytes, 1.2 seconds long, {"extra": "hex"}
 * after a right answer, {"deaf": true} no more reading.
 */

require __DIR__ . '/AerospikeRecords.php';

set_error_handler(function ($severity, $message, $file, $line) {
    throw new ErrorException($message, 0, $severity, $file, $line);
});
$server = stream_socket_server('tcp://127.0.0.1:0');
$port = (int) substr(strrchr(stream_socket_get_name($server, false), ':'), 1);

$records = new AerospikeRecords();
$clients = array();
$waiting = array();
$deeds = array();
$deaf = array();

$send = function ($client, $answer, array $deed) use (&$deaf) {
    if (isset($deed['raw'])) {
        $answer = hex2bin($deed['raw']);
    }
    if (isset($deed['extra'])) {
        $answer .= hex2bin($deed['extra']);
    }
    foreach (array('keep', 'stall') as $cut) {
        $answer = isset($deed[$cut]) ? (string) substr($answer, 0, $deed[$cut]) : $answer;
    }
    if (isset($deed['pause'])) {
        fwrite($client, (string) substr($answer, 0, $deed['pause']));
        usleep(1200000);
        $answer = substr($answer, $deed['pause']);
    }
    foreach (str_split($answer, isset($deed['split']) ? 1 : max(1, strlen($answer))) as $piece) {
        fwrite($client, $piece);
        if (isset($deed['split'])) {
            usleep(300);
        }
    }
    if (isset($deed['keep'])) {
        stream_socket_shutdown($client, STREAM_SHUT_RDWR);
    }
    if (isset($deed['deaf'])) {
        $deaf[(int) $client] = true;
    }
};

while (true) {
    $read = array_merge(array(STDIN, $server), array_diff_key($clients, $deaf));
    $write = null;
    $except = null;
    stream_select($read, $write, $except, null);
    foreach ($read as $stream) {
        if ($stream === $server) {
            $client = stream_socket_accept($server);
            stream_set_read_buffer($client, 0);
            $clients[(int) $client] = $client;
            $waiting[(int) $client] = '';
        } elseif ($stream === STDIN) {
            $line = fgets(STDIN);
            if ($line === false) {
                exit(0);
            }
            $request = json_decode($line, true);
            $deeds = isset($request['next']) ? $request['next'] : $deeds;
            $records->info = isset($request['info']) ? $request['info'] : $records->info;
            $taken = isset($request['requests']) ? $records->taken() : array();
            echo json_encode(array('port' => $port, 'requests' => $taken)), "\n";
        } else {
            try {
                $bytes = fread($stream, 1 << 20);
            } catch (ErrorException $error) {
                $bytes = '';
            }
            if ($bytes === '' || $bytes === false) {
                unset($clients[(int) $stream], $waiting[(int) $stream]);
                continue;
            }
            $waiting[(int) $stream] .= $bytes;
            while (($request = AerospikeRecords::first($waiting[(int) $stream])) !== null) {
                $deed = array_shift($deeds) ?: array();
                $send($stream, $records->answer($request, isset($deed['code']) ? $deed['code'] : 0), $deed);
            }
        }
    }
}
