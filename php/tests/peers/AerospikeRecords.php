<?php
/** Records as a server keeps them, by their digests, and the answers to requests. */
final class AerospikeRecords
{
    /** What the info protocol answers. */
    public $info = array('build' => '8.1.2.0', 'namespaces' => 'bar;test', 'peers-clear-std' => '0,3000,[]');
    private $records = array();
    private $taken = array();

    /** @return string|null the first whole request of the bytes, which is taken off them */
    public static function first(&$bytes)
    {
        if (strlen($bytes) < 8) {
            return null;
        }
        $lengths = unpack('nhigh/Nlow', substr($bytes, 2, 6));
        if (strlen($bytes) < 8 + $lengths['low']) {
            return null;
        }
        $request = substr($bytes, 0, 8 + $lengths['low']);
        $bytes = (string) substr($bytes, 8 + $lengths['low']);
        return $request;
    }

    /** @return array the requests on records since the last time, in hexadecimal */
    public function taken()
    {
        $taken = $this->taken;
        $this->taken = array();
        return $taken;
    }

    /** @return string the answer; with a code, to a request that failed with it */
    public function answer($request, $code)
    {
        if (substr($request, 0, 2) === "\x02\x01") {
            return $this->answerInfo(substr($request, 8));
        }
        $this->taken[] = bin2hex(substr($request, 0, 4096));
        if ($code !== 0) {
            return self::message($code);
        }
        // After the header's length and three bytes of flags: none more, no code, no generation, no time to live.
        if (substr($request, 0, 4) !== "\x02\x03\0\0" || substr($request, 12, 10) !== str_repeat("\0", 10)) {
            return self::message(4);
        }
        $fields = "\0\0\0\x05\0test\0\0\0\x06\x01weigh\0\0\0\x15\x04";
        if (substr($request, 26, 2) !== "\0\x03" || substr($request, 30, strlen($fields)) !== $fields) {
            return self::message(20);
        }
        $at = 30 + strlen($fields);
        return $this->act(substr($request, 9, 3), substr($request, $at, 20), (string) substr($request, $at + 20), $request);
    }

    private function act($flags, $digest, $operations, $request)
    {
        $counts = unpack('n', substr($request, 28, 2));
        if ($flags === "\0\x01\x10") {
            return $this->write($digest, $counts[1], $operations);
        }
        if ($operations !== '' || $counts[1] !== 0 || !in_array($flags, array("\x03\0\0", "\0\x03\0"), true)) {
            return self::message(4);
        }
        if (!isset($this->records[$digest])) {
            return self::message(2);
        }
        if ($flags === "\0\x03\0") {
            unset($this->records[$digest]);
            return self::message(0);
        }
        return self::message(0, $this->records[$digest][0], $this->records[$digest][1]);
    }

    private function write($digest, $count, $operations)
    {
        $bins = self::bins($operations, $count);
        if ($count === 0 || $bins === null) {
            return self::message(4);
        }
        $this->records[$digest] = array($count, $bins);
        return self::message(0);
    }

    /** @return string|null the operations of a write as those of an answer: the kind of each is 1 instead of 2 */
    private static function bins($operations, $count)
    {
        $at = 0;
        for ($i = 0; $i < $count; ++$i) {
            if ($at + 8 > strlen($operations) || $operations[$at + 4] !== "\x02" || $operations[$at + 6] !== "\0") {
                return null;
            }
            $operations[$at + 4] = "\x01";
            $length = unpack('N', substr($operations, $at, 4));
            $at += 4 + $length[1];
        }
        return $at === strlen($operations) ? $operations : null;
    }

    private function answerInfo($names)
    {
        $body = '';
        foreach (explode("\n", rtrim($names, "\n")) as $name) {
            $body .= "$name\t" . (isset($this->info[$name]) ? $this->info[$name] : 'ERROR:4:unrecognized command') . "\n";
        }
        return pack('CCnN', 2, 1, 0, strlen($body)) . $body;
    }

    private static function message($code, $count = 0, $operations = '')
    {
        $header = pack('CCnNCx4CNx8nn', 2, 3, 0, 22 + strlen($operations), 22, $code, 1, 0, $count);
        return $header . $operations;
    }
}
