<?php
/**
 * Does with a store's driver what a test asks: a JSON object a line on stdin, one on stdout. Values travel as
 * serialize() in base64, for they are any bytes.
 *
 *     php driver.php DRIVER.php [FILE.php]     FILE is read before the driver
 */

ini_set('display_errors', 'stderr');
ini_set('memory_limit', '-1');
error_reporting(E_ALL);
set_error_handler(function ($severity, $message, $file, $line) {
    throw new ErrorException($message, 0, $severity, $file, $line);
});
require dirname(dirname(__DIR__)) . '/lib/Classes.php';
Weighbridge\Classes::here();
Weighbridge\Classes::ofStores(dirname(dirname(dirname(__DIR__))) . '/stores');
if (isset($argv[2])) {
    require $argv[2];
}
$driver = require $argv[1];
$store = null;

$operations = array(
    'describe' => function () use ($driver) {
        $entry = array_diff_key($driver, array('open' => 0));
        return array_merge($entry, array('library' => $driver['library'](), 'missing' => $driver['missing']()));
    },
    'open' => function (array $address, $timeout) use ($driver, &$store) {
        $store = $driver['open']($address, $timeout);
        return null;
    },
    'static' => function ($method, array $arguments) {
        return call_user_func_array($method, $arguments);
    },
    'put frame' => function (array $arguments, $key, $value) {
        $message = new Weighbridge\Aerospike\Message($arguments[0], $arguments[1], $arguments[2]);
        return array($message->put($key, $value), $message->get($key), $message->delete($key));
    },
);

while (($line = fgets(STDIN)) !== false) {
    $request = json_decode($line, true);
    $arguments = unserialize(base64_decode($request['arguments']));
    try {
        $called = isset($operations[$request['op']]) ? $operations[$request['op']] : array($store, $request['op']);
        $reply = array('value' => base64_encode(serialize(call_user_func_array($called, $arguments))));
    } catch (Exception $error) {
        $told = $error instanceof Weighbridge\Fault ? $error->describe() : array('kind' => 'broken', 'message' => $error->getMessage());
        $reply = array('kind' => $told['kind'], 'message' => $told['message'], 'class' => get_class($error));
        $reply['remedy'] = isset($told['remedy']) ? $told['remedy'] : null;
    }
    echo json_encode($reply), "\n";
}
