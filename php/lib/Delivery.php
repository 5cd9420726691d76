<?php
namespace Weighbridge;

/** One response in the making: the content, the parameters of the way, and what ways do alike. */
final class Delivery
{
    public $content;
    public $params;
    private $accept;

    /** @throws Fault when this PHP would encode whatever is sent */
    public function __construct(Content $content, Params $params)
    {
        foreach (array('zlib', 'zstd', 'brotli') as $extension) {
            $setting = ini_get("$extension.output_compression");
            if ($setting && !in_array(strtolower($setting), array('off', 'no', 'false'), true)) {
                $message = "$extension.output_compression is on in this PHP, so that every way would be encoded by it";
                throw new Fault('missing', $message, "set $extension.output_compression=0 in the PHP-FPM pool");
            }
        }
        $this->content = $content;
        $this->params = $params;
        $field = isset($_SERVER['HTTP_ACCEPT_ENCODING']) ? $_SERVER['HTTP_ACCEPT_ENCODING'] : null;
        $this->accept = new Accept($field);
        header('Content-Type: ' . $content->type());
    }

    /** @return string|null the coding to send, null for identity; caches are told that it was chosen */
    public function negotiate(array $codings)
    {
        header('Vary: Accept-Encoding');
        return $this->accept->choose($codings);
    }

    /** @return bool whether the page is to be flushed in pieces */
    public function inPieces()
    {
        return (int) $this->params->option('pieces', '1') > 1;
    }

    /** @return array the page in as many pieces as were asked for, at least one */
    public function pieces()
    {
        $count = (int) $this->params->option('pieces', '1');
        $page = $this->content->read();
        return $count > 1 ? str_split($page, max(1, (int) ceil(strlen($page) / $count))) : array($page);
    }

    /** Sends the page as it is, with its length. */
    public function sendPlain()
    {
        header('Content-Length: ' . $this->content->bytes);
        $this->sendPieces();
    }

    /** Echoes the page, and after each of several pieces flushes through the buffer on top and to the client. */
    public function sendPieces()
    {
        if (!$this->inPieces()) {
            echo $this->content->read();
            return;
        }
        foreach ($this->pieces() as $piece) {
            echo $piece;
            if (ob_get_level() > 0) {
                ob_flush();
            }
            flush();
        }
    }

    /** Ends the buffers that a setting of this PHP began, for output that is to leave as it is made. */
    public static function endBuffers()
    {
        while (ob_get_level() > 0 && ob_end_clean()) {
            continue;
        }
    }

    /** The headers of a download: streamed ones have the length, for offloaded ones the server gives it. */
    public function asDownload()
    {
        $plain = preg_replace('/[^\x20-\x7e]|["\\\\%]/', '_', $this->content->name);
        $full = rawurlencode($this->content->name);
        header("Content-Disposition: attachment; filename=\"$plain\"; filename*=UTF-8''$full");
    }

    /** Begins a download that PHP itself sends: nothing is held back in buffers. */
    public function beginStream()
    {
        self::endBuffers();
        $this->asDownload();
        header('Content-Length: ' . $this->content->bytes);
    }

    /**
     * Authorises a download as an application would: by a token, compared in constant time.
     *
     * The expected token is the environment's WEIGH_TOKEN.
     *
     * @throws Fault when the token is another, or there is none to compare with
     */
    public function authorise()
    {
        $expected = getenv('WEIGH_TOKEN');
        if (!is_string($expected) || $expected === '') {
            $remedy = 'set env[WEIGH_TOKEN] in the PHP-FPM pool';
            throw new Fault('missing', 'the environment has no WEIGH_TOKEN to compare with', $remedy);
        }
        if (!self::sameText($expected, $this->params->option('token', ''))) {
            throw new Fault('forbidden', 'the token does not allow this download');
        }
    }

    private static function sameText($known, $given)
    {
        if (function_exists('hash_equals')) {
            return hash_equals($known, $given);
        }
        // PHP 5.5 has no such function. Digests are of one length, and tell nothing of where the texts differ.
        return hash('sha256', $known) === hash('sha256', $given);
    }
}
