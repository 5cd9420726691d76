<?php
/** A response, taken apart. */
final class Answer
{
    public $status;
    public $body;
    private $headers = array();

    /** @return Answer from the text of a response, with a status line or, as from FastCGI, a Status field */
    public static function parse($response)
    {
        list($head, $body) = explode("\r\n\r\n", $response, 2) + array('', '');
        $answer = new self();
        $answer->body = $body;
        foreach (explode("\r\n", $head) as $line) {
            if (preg_match('~^HTTP/1\.\d (\d{3})~', $line, $match)) {
                $answer->status = (int) $match[1];
            } elseif (strpos($line, ':') !== false) {
                list($name, $value) = explode(':', $line, 2);
                $answer->headers[strtolower($name)] = trim($value);
            }
        }
        if ($answer->status === null) {
            $answer->status = (int) ($answer->header('status') ?: 200);
        }
        return $answer;
    }

    /** @return string|null */
    public function header($name)
    {
        return isset($this->headers[strtolower($name)]) ? $this->headers[strtolower($name)] : null;
    }

    /**
     * @param int $length of what should come out
     * @return string the body without its content coding, decoded by this process
     */
    public function decoded($length)
    {
        $codecs = array('gzip' => 'gzencode', 'zstd' => 'zstd', 'br' => 'brotli');
        $coding = $this->header('Content-Encoding');
        if ($coding === null) {
            return $this->body;
        }
        Failure::unless(isset($codecs[$coding]), "a coding that nobody asked for: $coding");
        $catalogue = new Weighbridge\Catalogue(dirname(dirname(__DIR__)));
        try {
            list($coder) = $catalogue->codec($codecs[$coding])->coder(new Weighbridge\Params(null, array()));
        } catch (Weighbridge\Fault $fault) {
            throw new Skip('the body cannot be decoded: ' . $fault->getMessage());
        }
        list($decoded) = $coder->boundedPass(array($this->body), array($length))->outputs();
        return $decoded;
    }
}
