<?php
namespace Weighbridge\Aerospike;

use Weighbridge\Fault;
use Weighbridge\Text;

/** The result codes of the protocol: their names in the server and the clients, and remedies. */
final class Result
{
    const OK = 0;
    const NOT_FOUND = 2;

    private static $names = array(
        1 => 'server error',
        2 => 'not found',
        3 => 'generation error',
        4 => 'parameter error',
        5 => 'record exists',
        6 => 'bin exists',
        7 => 'cluster key mismatch',
        8 => 'out of space or server memory',
        9 => 'server timeout',
        10 => 'always forbidden',
        11 => 'partition unavailable',
        12 => 'incompatible bin type',
        13 => 'record too big',
        14 => 'hot key',
        15 => 'scan aborted',
        16 => 'unsupported feature',
        17 => 'bin not found',
        18 => 'device overload',
        19 => 'key mismatch',
        20 => 'invalid namespace',
        21 => 'invalid bin name',
        22 => 'forbidden',
        23 => 'element not found',
        24 => 'element exists',
        25 => 'enterprise only',
        26 => 'operation not applicable',
        27 => 'filtered out',
        28 => 'lost conflict',
        51 => 'security not supported',
        52 => 'security not enabled',
        55 => 'invalid field',
        56 => 'illegal state',
        60 => 'invalid user',
        62 => 'invalid password',
        63 => 'expired password',
        65 => 'invalid credential',
        66 => 'expired session',
        80 => 'not authenticated',
        81 => 'role violation',
        82 => 'address not whitelisted',
        83 => 'quota exceeded',
    );

    private static $remedies = array(
        8 => 'give the namespace more memory, or use a smaller key space',
        9 => 'lower the load, or raise the time limit',
        11 => 'wait for some seconds: the server has just started and is not ready yet',
        12 => 'use a server from 5.6 on, which supports every type of value',
        13 => 'raise max-record-size of the namespace, or store smaller values',
        14 => 'use more keys or fewer clients: too many clients wait for this key (transaction-pending-limit)',
        18 => 'lower the rate: the device cannot write as fast',
        20 => 'give a namespace that the server has',
        22 => 'check the server\'s log: the namespace refuses writes because of its memory, clock or configuration',
        80 => 'use the driver `extension`, which supports authentication',
        81 => 'give this user the permission to read and write',
    );

    /**
     * @param string $operation the operation
     * @param string $words     further information, or an empty string
     * @return Fault the failure for a code, such as `put: record too big (result code 13)`
     */
    public static function fault($operation, $code, $words = '')
    {
        $name = isset(self::$names[$code]) ? self::$names[$code] : 'unknown failure';
        $remedy = isset(self::$remedies[$code]) ? self::$remedies[$code] : null;
        $more = $words === '' ? '' : ': ' . Text::line($words);
        return new Fault('response', "$operation: $name (result code $code)$more", $remedy);
    }
}
