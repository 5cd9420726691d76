<?php
/** APCu: memory shared by the processes of one PHP-FPM; on the command line each process has its own. */

use Weighbridge\Apcu\Store;
use Weighbridge\Extension;
use Weighbridge\Fault;

return array(
    'about' => 'the apcu extension; on the command line each process has a store of its own',
    'library' => function () {
        return 'apcu ' . phpversion('apcu') . ' (serializer ' . ini_get('apc.serializer') . ')';
    },
    'missing' => function () {
        if (!function_exists('apcu_store')) {
            return Extension::missing('apcu', 'apcu_store');
        }
        if (!ini_get('apc.enabled') || !ini_get('apc.enable_cli')) {
            return new Fault('missing', 'APCu is switched off on the command line', 'start PHP with -d apc.enable_cli=1');
        }
        return null;
    },
    'schemes' => array(),
    'native' => array('integer', 'text', 'record', 'value'),
    'extension' => true,
    'shared' => false,
    'open' => function () {
        return new Store();
    },
);
