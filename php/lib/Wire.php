<?php
namespace Weighbridge;

/**
 * A connection by a plain stream, for protocols of lines and counted bytes: everything is written whole, and read
 * whole or not at all. After any exception the connection is of no use.
 */
final class Wire
{
    /** A line of a reply that is longer than this is none. */
    const LONGEST_LINE = 65536;

    private $stream;
    private $timeout;
    private $peer;

    /**
     * @param array $address `unix`, or `host` and `port`
     * @param float $timeout seconds, for connecting and for each answer
     */
    public function __construct(array $address, $timeout)
    {
        $this->timeout = $timeout;
        $this->peer = Address::name($address);
        $context = stream_context_create(array('socket' => array('tcp_nodelay' => true)));
        $target = Address::target($address);
        try {
            $stream = stream_socket_client($target, $code, $reason, $timeout, STREAM_CLIENT_CONNECT, $context);
        } catch (\ErrorException $error) {
            $reason = isset($code, $reason) && $code !== 0 ? $reason : $error->getMessage();
            throw new \RuntimeException("connecting to {$this->peer}: $reason");
        }
        $this->stream = $stream;
        stream_set_timeout($this->stream, (int) $timeout, (int) (fmod($timeout, 1) * 1e6));
    }

    /** Writes all of it. */
    public function write($bytes)
    {
        $length = strlen($bytes);
        try {
            $done = fwrite($this->stream, $bytes);
            while ($done !== false && $done < $length) {
                $more = fwrite($this->stream, substr($bytes, $done));
                $done = $more > 0 ? $done + $more : false;
            }
        } catch (\ErrorException $error) {
            throw new \RuntimeException("writing to {$this->peer}: {$error->getMessage()}");
        }
        if ($done === false) {
            throw $this->ended('writing to');
        }
    }

    /** @return string the next line, without its end */
    public function line()
    {
        $line = fgets($this->stream, self::LONGEST_LINE);
        if ($line === false || substr($line, -2) !== "\r\n") {
            if ($line !== false && strlen($line) >= self::LONGEST_LINE - 1) {
                throw new \RuntimeException("reading from {$this->peer}: a line has no end");
            }
            throw $this->ended('reading from');
        }
        return substr($line, 0, -2);
    }

    /** @return string this many bytes */
    public function exactly($length)
    {
        $bytes = stream_get_contents($this->stream, $length);
        if ($bytes === false || strlen($bytes) !== $length) {
            throw $this->ended('reading from');
        }
        return $bytes;
    }

    /** @return \RuntimeException for an answer that is none of the protocol's */
    public function garbage($line)
    {
        $line = Text::line(substr($line, 0, 80));
        return new \RuntimeException("reading from {$this->peer}: not an answer of the protocol: $line");
    }

    public function close()
    {
        if (is_resource($this->stream)) {
            fclose($this->stream);
        }
    }

    /** Why nothing more came or went. */
    private function ended($doing)
    {
        $state = stream_get_meta_data($this->stream);
        $why = $state['timed_out'] ? "no answer within {$this->timeout} s" : 'it closed the connection';
        return new \RuntimeException("$doing {$this->peer}: $why");
    }
}
