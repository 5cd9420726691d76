<?php
/** The output handler of the PHP library, as applications use it: negotiation, threshold and streams are its own. */

use Weighbridge\Delivery;
use Weighbridge\Extension;
use Weighbridge\Fault;
use Weighbridge\Library\Codec;
use Weighbridge\Library\OutputHandler;
use Weighbridge\Library\Settings;

$autoload = dirname(__DIR__) . '/library/autoload.php';
$of = array('br' => 'br', 'gzip' => 'libdeflate', 'zstd' => 'zstd');

return array(
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
        $level = ob_get_level();
        $delivery->sendPieces();
        OutputHandler::close($level);
    },
) + Extension::weighbridgeOutput();
