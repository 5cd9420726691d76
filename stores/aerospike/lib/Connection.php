<?php
namespace Weighbridge\Aerospike;

/**
 * One TCP connection to a server: sends a request and receives the whole reply.
 *
 * After an error in a reply's frame, or a timeout, the connection is closed for good:
 * later bytes would be taken for the reply to another request.
 */
final class Connection
{
    /** The longest accepted reply, equal to the server's own limit for requests. */
    const LONGEST = 134217728;
    /** The size of the first read of a reply, and of the largest further one: PHP allocates all of it. */
    const FIRST = 8192;
    const FURTHER = 131072;

    private $stream;
    private $name;
    private $timeout;
    private $shortened = false;

    /** @param float $timeout seconds for connecting, and for each complete reply */
    public function __construct(Address $address, $timeout)
    {
        $this->name = $address->name();
        $this->timeout = $timeout;
        $options = stream_context_create(array('socket' => array('tcp_nodelay' => true)));
        try {
            $code = 0;
            $reason = '';
            $flags = STREAM_CLIENT_CONNECT;
            $stream = stream_socket_client($address->target(), $code, $reason, $timeout, $flags, $options);
        } catch (\ErrorException $error) {
            $stream = false;
            $reason = preg_replace('/^.*unable to connect to \S+ /i', '', $error->getMessage());
        }
        if ($stream === false) {
            throw new Failure("$this->name: cannot connect: $reason");
        }
        stream_set_read_buffer($stream, 0);
        $this->stream = $stream;
        $this->allow($timeout);
    }

    /**
     * @param string $request
     * @param int    $type    the expected type of the reply, Message::INFO or Message::RECORD
     * @return string the whole reply, with its header of 8 bytes
     */
    public function exchange($request, $type)
    {
        if ($this->stream === null) {
            throw new Failure("$this->name: the connection was closed after a failure");
        }
        try {
            $deadline = microtime(true) + $this->timeout;
            $this->send($request);
            return $this->receive($type, $deadline);
        } catch (\ErrorException $error) {
            // If warnings are thrown, a broken connection and a timeout while sending look alike.
            $state = stream_get_meta_data($this->stream);
            $this->close();
            $reason = $state['timed_out'] ? "$this->timeout s passed before the server accepted the request" : $error->getMessage();
            throw new Failure("$this->name: $reason");
        } catch (Failure $failure) {
            $this->close();
            throw new Failure("$this->name: " . $failure->getMessage());
        }
    }

    public function close()
    {
        if ($this->stream !== null) {
            fclose($this->stream);
            $this->stream = null;
        }
    }

    private function send($request)
    {
        $length = strlen($request);
        $sent = fwrite($this->stream, $request);
        while ($sent !== false && $sent < $length) {
            $more = fwrite($this->stream, substr($request, $sent, self::FURTHER));
            $sent = $more ? $sent + $more : false;
        }
        if ($sent === false) {
            $this->fail('accepted the request');
        }
    }

    private function receive($type, $deadline)
    {
        $frame = $this->read(self::FIRST);
        $have = strlen($frame);
        $whole = $have >= Answer::FRAME ? self::length($frame, $type) : null;
        while ($have !== $whole) {
            if ($whole !== null && $have > $whole) {
                throw new Failure('there are bytes after the reply');
            }
            $this->allow(max(0, $deadline - microtime(true)));
            $this->shortened = true;
            $frame .= $this->read(($whole === null ? Answer::FRAME : $whole) - $have);
            $have = strlen($frame);
            $whole = $whole === null && $have >= Answer::FRAME ? self::length($frame, $type) : $whole;
        }
        if ($this->shortened) {
            $this->allow($this->timeout);
            $this->shortened = false;
        }
        return $frame;
    }

    /** @return string the next bytes, at least one */
    private function read($wanted)
    {
        $bytes = fread($this->stream, min($wanted, self::FURTHER));
        if ($bytes === '' || $bytes === false) {
            $this->fail('had answered');
        }
        return $bytes;
    }

    /** @throws Failure always: why the connection ended before the server did something */
    private function fail($what)
    {
        $state = stream_get_meta_data($this->stream);
        $reason = $state['timed_out'] ? "$this->timeout s passed" : 'the connection was closed';
        throw new Failure("$reason before the server $what");
    }

    /** @return int the length of a whole reply, from its first 8 bytes */
    private static function length($frame, $type)
    {
        $head = unpack('Cversion/Ctype/nhigh/Nlow', $frame);
        if ($head['version'] !== 2 || $head['type'] !== $type) {
            $bytes = bin2hex(substr($frame, 0, Answer::FRAME));
            throw new Failure("not a reply of Aerospike's protocol, version 2 type $type: 0x$bytes");
        }
        if ($head['high'] !== 0 || $head['low'] > self::LONGEST) {
            throw new Failure('the reply would be longer than ' . self::LONGEST . ' bytes');
        }
        return Answer::FRAME + $head['low'];
    }

    private function allow($seconds)
    {
        $whole = (int) $seconds;
        stream_set_timeout($this->stream, $whole, (int) max(1, ($seconds - $whole) * 1000000));
    }
}
