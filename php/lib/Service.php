<?php
namespace Weighbridge;

/**
 * Reads requests and writes replies, one JSON object a line, in order, until stdin ends.
 *
 * It owns the two streams and the guards round whatever runs here; what a request means stands elsewhere.
 */
final class Service
{
    private $name;
    private $kind;

    /**
     * @param string $name of the process, for what it says on stderr
     * @param string $kind of the fault that an exception becomes which is none
     */
    public function __construct($name, $kind)
    {
        $this->name = $name;
        $this->kind = $kind;
    }

    /**
     * @param object   $worker its carryOut(Request) returns the reply without the id
     * @param resource $input
     * @param resource $output
     */
    public function serve($worker, $input, $output)
    {
        // The buffer's callback lets nothing through, not even when a fatal error flushes it.
        ob_start(function () {
            return '';
        });
        set_error_handler(array(__CLASS__, 'raise'));
        while (($line = fgets($input)) !== false) {
            fwrite($output, $this->answer($worker, $line) . "\n");
            fflush($output);
            $this->reportStrayOutput();
        }
    }

    /** Turns a warning into an exception, so that it ends as a fault and not as text between replies. */
    public static function raise($severity, $message, $file, $line)
    {
        if ((error_reporting() & $severity) === 0) {
            return true;
        }
        throw new \ErrorException($message, 0, $severity, $file, $line);
    }

    /** @return string the reply to one line, as JSON */
    private function answer($worker, $line)
    {
        $id = 0;
        try {
            $request = Request::parse($line);
            $id = $request->id();
            $reply = array('id' => $id) + $worker->carryOut($request);
        } catch (Fault $fault) {
            $reply = array('id' => $id, 'fault' => $fault->describe());
        } catch (\Exception $error) {
            $reply = $this->unexpected($id, $error);
        } catch (\Throwable $error) {
            $reply = $this->unexpected($id, $error);
        }
        $json = json_encode($reply, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
        if ($json === false) {
            $fault = new Fault($this->kind, 'the reply cannot be written as JSON: error ' . json_last_error());
            $json = json_encode(array('id' => $id, 'fault' => $fault->describe()));
        }
        return $json;
    }

    /** @param \Exception|\Throwable $error what a codec, a serializer or a driver raised */
    private function unexpected($id, $error)
    {
        $where = basename($error->getFile()) . ':' . $error->getLine();
        $fault = new Fault($this->kind, $error->getMessage() . " ($where)");
        return array('id' => $id, 'fault' => $fault->describe());
    }

    private function reportStrayOutput()
    {
        $stray = ob_get_contents();
        if ($stray !== '' && $stray !== false) {
            ob_clean();
            file_put_contents('php://stderr', "{$this->name}: stray output: " . Text::line($stray) . "\n");
        }
    }
}
