<?php
/**
 * A store that does as it is told: it speaks Redis's protocol or Memcached's on a unix socket, to one client after the
 * other, and notes each answer's time from the request's last byte to its own first.
 *
 *     php store.php redis|memcached SOCKET LOG SCRIPT
 *
 * SCRIPT is JSON: `every` (each so manieth get or set is treated so), `do` (how: error, wrong, garbage, split, short,
 * close, huge, sleep, hang; nothing without it), `only` (get or set), and `sleeps` (microseconds, one after the other for
 * each get and set). It holds, and gets and sets are numbered, from the instant at which the file LOG.begin is there.
 */

$script = json_decode($argv[4], true) + array('every' => 1, 'do' => null, 'only' => null, 'sleeps' => array());
$redis = $argv[1] === 'redis';
$server = stream_socket_server("unix://{$argv[2]}", $code, $reason);
if (!$server) {
    file_put_contents('php://stderr', "$reason\n");
    exit(1);
}
$log = fopen($argv[3], 'w');
$held = array();
$count = 0;
$begun = false;
while (true) {
    $client = stream_socket_accept($server, 120);
    if (!$client) {
        exit(0);
    }
    while (($request = $redis ? redisRequest($client) : memcachedRequest($client)) !== null) {
        $began = microtime(true);
        list($verb, $key, $value) = $request;
        $counts = $verb === 'get' || $verb === 'set';
        $begun = $begun || file_exists("{$argv[3]}.begin");
        $turn = $counts && $begun ? $count++ : -1;
        if ($turn >= 0 && $script['sleeps']) {
            usleep($script['sleeps'][$turn % count($script['sleeps'])]);
        }
        $now = $turn >= 0 && $turn % $script['every'] === 0 && in_array($script['only'], array(null, $verb), true);
        $do = $now ? $script['do'] : null;
        $reply = answer($verb, $key, $value, $held, $redis, $do);
        if ($do === 'close') {
            break;
        }
        if ($do === 'hang') {
            continue;
        }
        fwrite($log, sprintf("%s %d %.0f\n", $verb, $turn, (microtime(true) - $began) * 1e9));
        fflush($log);
        if ($do === 'split') {
            foreach (str_split($reply, 3) as $part) {
                fwrite($client, $part);
                usleep(100);
            }
            continue;
        }
        fwrite($client, $do === 'short' ? substr($reply, 0, -3) : $reply);
        if ($do === 'short') {
            break;
        }
    }
    fclose($client);
}

/** @return array|null verb, key, value */
function redisRequest($client)
{
    $head = fgets($client);
    if ($head === false || $head === '') {
        return null;
    }
    $words = array();
    for ($i = (int) substr($head, 1); $i > 0; --$i) {
        $length = (int) substr((string) fgets($client), 1);
        $words[] = substr(stream_get_contents($client, $length + 2), 0, $length);
    }
    return array(strtolower($words[0]), isset($words[1]) ? $words[1] : '', isset($words[2]) ? $words[2] : '');
}

/** @return array|null verb, key, value */
function memcachedRequest($client)
{
    $head = fgets($client);
    if ($head === false || $head === '' || rtrim($head) === 'quit') {
        return null;
    }
    $words = explode(' ', rtrim($head, "\r\n"));
    $value = '';
    if ($words[0] === 'set') {
        $value = substr(stream_get_contents($client, $words[4] + 2), 0, (int) $words[4]);
    }
    // What a client means by its flags travels before the value.
    return array($words[0], isset($words[1]) ? $words[1] : '', isset($words[2]) ? "$words[2] $value" : '');
}

/** @return string the reply to a request */
function answer($verb, $key, $value, array &$held, $redis, $do)
{
    if (in_array($do, array('error', 'garbage', 'huge'), true)) {
        return wrongReply($do, $key, $redis);
    }
    $there = isset($held[$key]);
    if ($verb === 'get' && $there) {
        $value = $do === 'wrong' ? substr($held[$key], 0, -1) . '!' : $held[$key];
        return $redis ? redisValue($value) : memcachedValue($key, $value);
    }
    if ($verb === 'set') {
        $held[$key] = $value;
    } elseif ($verb !== 'get') {
        unset($held[$key]);
    }
    $replies = array(
        'set' => array('STORED', '+OK'), 'get' => array('END', '$-1'), 'version' => array('VERSION 1.6.0', ''),
        'delete' => array($there ? 'DELETED' : 'NOT_FOUND', ''), 'del' => array('', ':' . (int) $there),
        'info' => array('', '-ERR unknown command'),
    );
    return $replies[$verb][(int) $redis] . "\r\n";
}

function wrongReply($do, $key, $redis)
{
    $replies = array(
        'error' => $redis ? "-ERR made up for this test\r\n" : "SERVER_ERROR made up for this test\r\n",
        'garbage' => "HTTP/1.1 400 Bad Request\r\n\r\n",
        'huge' => $redis ? "$99999999999\r\n" : "VALUE $key 0 99999999999\r\n",
    );
    return $replies[$do];
}

function redisValue($value)
{
    return '$' . strlen($value) . "\r\n$value\r\n";
}

function memcachedValue($key, $value)
{
    list($flags, $bytes) = explode(' ', $value, 2);
    return "VALUE $key $flags " . strlen($bytes) . "\r\n$bytes\r\nEND\r\n";
}
