<?php
namespace Weighbridge;

/**
 * Reads requests and writes replies, one JSON object a line, in order, until stdin ends.
 *
 * It owns the two streams and the guards round whatever runs here; what a request means stands elsewhere.
 */
final class Worker
{
    const PROTOCOL = 1;

    private $catalogue;
    private $visitor;

    public function __construct(Catalogue $catalogue)
    {
        $this->catalogue = $catalogue;
        $this->visitor = new Visitor($catalogue, new Payloads());
    }

    /**
     * @param resource $input
     * @param resource $output
     */
    public function serve($input, $output)
    {
        // The buffer's callback lets nothing through, not even when a fatal error flushes it.
        ob_start(function () {
            return '';
        });
        set_error_handler(array(__CLASS__, 'raise'));
        while (($line = fgets($input)) !== false) {
            fwrite($output, $this->answer($line) . "\n");
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
    private function answer($line)
    {
        $id = 0;
        try {
            $request = Request::parse($line);
            $id = $request->id();
            $reply = $this->carryOut($request);
        } catch (Fault $fault) {
            $reply = array('id' => $id, 'fault' => $fault->describe());
        } catch (\Exception $error) {
            $reply = $this->unexpected($id, $error);
        } catch (\Throwable $error) {
            $reply = $this->unexpected($id, $error);
        }
        $json = json_encode($reply, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
        if ($json === false) {
            $fault = new Fault('codec', 'the reply cannot be written as JSON: error ' . json_last_error());
            $json = json_encode(array('id' => $id, 'fault' => $fault->describe()));
        }
        return $json;
    }

    /** @return array the reply to a request */
    private function carryOut(Request $request)
    {
        switch ($request->text('op')) {
            case 'describe':
                return $this->describe($request->id());
            case 'visit':
                return array('id' => $request->id()) + $this->visitor->visit($request);
            case 'check':
                throw new Fault('parameter', 'a PHP worker makes no independent check; ask the native worker');
            default:
                throw new Fault('parameter', "unknown op `{$request->text('op')}`; use describe or visit");
        }
    }

    private function describe($id)
    {
        return array(
            'id' => $id,
            'protocol' => self::PROTOCOL,
            'runtime' => 'php',
            'version' => PHP_VERSION,
            'facts' => Facts::all(),
            'codecs' => $this->catalogue->describeCodecs(),
            'serializers' => $this->catalogue->describeSerializers(),
        );
    }

    /** @param \Exception|\Throwable $error what a codec or serializer raised */
    private function unexpected($id, $error)
    {
        $where = basename($error->getFile()) . ':' . $error->getLine();
        $fault = new Fault('codec', $error->getMessage() . " ($where)");
        return array('id' => $id, 'fault' => $fault->describe());
    }

    private function reportStrayOutput()
    {
        $stray = ob_get_contents();
        if ($stray !== '' && $stray !== false) {
            ob_clean();
            file_put_contents('php://stderr', 'php worker: stray output: ' . Text::line($stray) . "\n");
        }
    }
}
