<?php
/** One worker as a child process. */
final class Client
{
    const TIMEOUT_SECONDS = 120;

    private $process;
    private $pipes;
    private $errors;

    /**
     * @param array  $command the program and its arguments
     * @param string $errors  path of the file that takes its stderr
     */
    public function __construct(array $command, $errors)
    {
        // A list of arguments needs no shell; before PHP 7.4 there is no way round one.
        $line = PHP_VERSION_ID >= 70400 ? $command : 'exec ' . implode(' ', array_map('escapeshellarg', $command));
        $this->errors = $errors;
        $streams = array(array('pipe', 'r'), array('pipe', 'w'), array('file', $errors, 'w'));
        $this->process = proc_open($line, $streams, $this->pipes);
    }

    /** @return array the reply to a request */
    public function ask(array $request)
    {
        return $this->askRaw(json_encode($request));
    }

    /** Sends a request whose reply is asked for by receive(). */
    public function send(array $request)
    {
        fwrite($this->pipes[0], json_encode($request) . "\n");
    }

    /** @return array the reply to a line */
    public function askRaw($line)
    {
        fwrite($this->pipes[0], "$line\n");
        return $this->receive();
    }

    /** @return array the next reply */
    public function receive()
    {
        $reply = $this->readLine();
        if ($reply === false) {
            throw new Failure('the worker ended instead of answering; stderr: ' . $this->errors());
        }
        $decoded = json_decode($reply, true);
        if (!is_array($decoded)) {
            throw new Failure("not a reply: $reply");
        }
        return $decoded;
    }

    /** Sends a line that the worker is expected not to survive; @return mixed false when it gave no reply */
    public function provoke(array $request)
    {
        $this->send($request);
        return $this->readLine();
    }

    /** Ends its stdin. @return array exit code, the rest of stdout, and stderr */
    public function end()
    {
        fclose($this->pipes[0]);
        $rest = stream_get_contents($this->pipes[1]);
        fclose($this->pipes[1]);
        $code = proc_close($this->process);
        return array($code, $rest, $this->errors());
    }

    private function errors()
    {
        return trim(file_get_contents($this->errors));
    }

    private function readLine()
    {
        $read = array($this->pipes[1]);
        $write = null;
        $except = null;
        if (stream_select($read, $write, $except, self::TIMEOUT_SECONDS) === 0) {
            throw new Failure('no answer within ' . self::TIMEOUT_SECONDS . ' s');
        }
        return fgets($this->pipes[1]);
    }
}
