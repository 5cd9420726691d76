<?php
/** The output handler of the PHP library, as applications use it: negotiation, threshold and streams are its own. */

use Weighbridge\Delivery;
use Weighbridge\Fault;
use Weighbridge\Library\Codec;
use Weighbridge\Library\OutputHandler;
use Weighbridge\Library\Settings;

$autoload = dirname(__DIR__) . '/library/autoload.php';
$of = array('br' => 'br', 'gzip' => 'libdeflate', 'zstd' => 'zstd');

return array(
    'kind' => 'on-the-fly',
    'codings' => array('gzip', 'br', 'zstd'),
    'subjects' => array('page'),
    'levels' => array('min' => 1, 'max' => 11, 'default' => 6, 'representative' => array(1, 3, 6, 9)),
    'options' => array(
        'coding' => array('words' => array_keys($of), 'about' => 'the content coding; gzip without it'),
        'pieces' => array('range' => array(1, 1000), 'about' => 'pieces, each flushed through the handler; 1 without it'),
    ),
    'nominal' => array(array(1, 200.0), array(6, 60.0), array(9, 20.0)),
    'about' => 'OutputHandler of the library weighbridge/weighbridge: whole pages in one call, flushed ones as a stream',
    'missing' => function () {
        return PHP_VERSION_ID >= 70400 ? null : new Fault('missing', 'the library needs PHP 7.4 or newer', 'use a newer PHP');
    },
    'library' => function () use ($autoload, $of) {
        require_once $autoload;
        $codec = new Codec();
        return 'gzip by ' . $codec->binding('gzip', \Weighbridge\Library\Binding\Binding::ENCODE, $of['gzip']);
    },
    'send' => function (Delivery $delivery) use ($autoload, $of) {
        require_once $autoload;
        $coding = $delivery->params->option('coding', 'gzip');
        $rule = array('coding' => $coding, 'codec' => $of[$coding], 'level' => $delivery->params->level, 'min_bytes' => 0);
        $settings = Settings::fromArray(array('schema' => 1, 'page' => array('rules' => array($rule))));
        Delivery::endBuffers();
        $handler = new OutputHandler($settings);
        $handler->open();
        $delivery->sendPieces();
        ob_end_flush();
    },
);
