<?php
namespace Weighbridge;

/**
 * Sends a page through a codec: as one body by the callback of an output buffer, or in flushed pieces by a stream
 * of the binding. Where the binding has no streams, pieces are gathered, and go out as one.
 */
final class CodedPage
{
    private $delivery;
    private $coding;

    /** @param string $coding the content coding that the codec writes */
    public function __construct(Delivery $delivery, $coding)
    {
        $this->delivery = $delivery;
        $this->coding = $coding;
    }

    /** Sends it whole, with its length. */
    public function sendWhole(Coder $coder)
    {
        $coding = $this->coding;
        ob_start(function ($page) use ($coder, $coding) {
            $fault = null;
            try {
                $body = $coder->encode($page);
            } catch (\Exception $error) {
                $fault = $error;
            } catch (\Throwable $error) {
                $fault = $error;
            }
            // An exception must not leave the callback: PHP would send the page unencoded.
            if ($fault !== null) {
                http_response_code(500);
                header('X-Weigh-Fault: ' . Text::line($fault->getMessage()));
                return Text::line($fault->getMessage()) . "\n";
            }
            header("Content-Encoding: $coding");
            header('Content-Length: ' . strlen($body));
            return $body;
        });
        foreach ($this->delivery->pieces() as $piece) {
            echo $piece;
        }
        ob_end_flush();
    }

    /** @param \Closure $stream bytes, and whether they are the last, to what can be sent of them by now */
    public function sendStream(\Closure $stream)
    {
        Delivery::endBuffers();
        header("Content-Encoding: {$this->coding}");
        $pieces = $this->delivery->pieces();
        $last = count($pieces) - 1;
        foreach ($pieces as $i => $piece) {
            echo $stream($piece, $i === $last);
            flush();
        }
    }
}
