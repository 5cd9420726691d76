<?php
namespace Weighbridge\Aerospike;

/** The result codes of the protocol: their names in the server's and the clients' sources, and what to try. */
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

    private static $advice = array(
        8 => 'the namespace has reached its limit; give it more room or use a smaller key space',
        9 => 'the server did not finish within its own limit (transaction-max-ms)',
        11 => 'the server is not ready for these keys yet; wait for some seconds',
        12 => 'the server may be older than this type of value',
        13 => 'the namespace takes no record of this size (max-record-size, write-block-size)',
        14 => 'too many clients wait for this one record (transaction-pending-limit)',
        18 => 'the device cannot write as fast; lower the rate',
        20 => 'give a namespace that the server has',
        22 => 'the namespace refuses writes now, for want of memory, by its clock or by its configuration',
        80 => 'the server needs a user: use the driver `extension`',
        81 => 'this user may not do that',
    );

    /** @return string one line on a code, such as `record too big (result code 13): ...` */
    public static function line($code)
    {
        $name = isset(self::$names[$code]) ? self::$names[$code] : 'unknown failure';
        $advice = isset(self::$advice[$code]) ? ': ' . self::$advice[$code] : '';
        return "$name (result code $code)$advice";
    }
}
