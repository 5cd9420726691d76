<?php

declare(strict_types=1);

namespace Weighbridge\Library;

use Throwable;
use Weighbridge\Library\Settings\InvalidSettings;
use Weighbridge\Library\Settings\Rule;

/**
 * An output handler that encodes pages: `OutputHandler::start();` before any output.
 *
 * PHP calls it with each write. A page that is to be encoded is held up to a bound: one that ends below it is encoded in
 * one call, and a longer or a flushed one becomes a stream. What is not to be encoded is not held. A script that closes
 * the buffer before anything left gets its output as it is, and all that follows.
 */
final class OutputHandler
{
    /** The longest page that is held, in bytes. */
    private const MAX_HELD = 1 << 18;
    /** How much of a stream is encoded at once, in bytes, unless the script flushes. */
    private const PIECE = 1 << 15;
    /** What is left to a stream besides what it gave, in bytes: Brotli gives megabytes at once. */
    private const SPARE = 1 << 22;

    /** Nothing was written, or too little for PHP to send its header. */
    private const BEGUN = 0;
    /** The page is held, to be encoded. */
    private const HELD = 1;
    /** A part of the stream was sent. */
    private const STREAMING = 2;
    /** What is written leaves as it is. */
    private const PASSING = 3;
    /** All was sent. */
    private const ENDED = 4;

    /** How many bytes are held without a look at them. */
    private const BOUNDS = [self::HELD => self::MAX_HELD, self::STREAMING => self::PIECE];

    /** After which nothing reaches the client: the script's end, and what ends a response before that. */
    private const FINISHING = ['', 'fastcgi_finish_request', 'litespeed_finish_request', 'frankenphp_finish_request'];

    private Page $page;

    /** Null: that of `$_SERVER`, which is read when the buffer is opened. */
    private ?Request $request;

    private int $state = self::BEGUN;

    /** What was written and did not leave. */
    private string $held = '';

    /** How many bytes of it were flushed by the end of a buffer: they are not dropped any more. */
    private int $kept = 0;

    private ?Stream $stream = null;

    /** From how many bytes on PHP itself would send its header: as php.ini's `output_buffering` says. */
    private int $least = 1;

    /** Whether a new buffer is opened when PHP drops this one. */
    private bool $isContinued = false;

    /** Whether this one continues another, and nothing was written since. */
    private bool $isUnused = false;

    /** Whether PHP has destructed all objects. */
    private bool $isEnding = false;

    /** What is sent when PHP drops this buffer. */
    private string $rest = '';

    /** @var list<string> what passes then, for want of memory */
    private array $late = [];

    public function __construct(?Settings $settings = null, ?Request $request = null, ?Codec $codec = null)
    {
        [$this->page, $this->request] = [new Page($settings, $codec), $request];
    }

    /**
     * Encodes what follows until the script ends.
     *
     * @param string|null $path the settings' file; null, or no such file: safe defaults. Settings that cannot be used are
     *                          logged, and pages are sent as they are
     * @return bool whether output is encoded from here on, if a client accepts it
     */
    public static function start(?string $path = null): bool
    {
        try {
            return (new self($path === null || !file_exists($path) ? null : Settings::fromFile($path)))->open();
        } catch (InvalidSettings $invalid) {
            error_log('weighbridge: ' . $invalid->getMessage());
            return false;
        }
    }

    /** Opens the buffer. False, and nothing is done, above a buffer that it knows nothing of, or after the header was sent. */
    public function open(): bool
    {
        $written = '';
        if (self::isInBufferOfPhpIni()) {
            // It would hold back every flush of the script.
            $size = (int) ini_get('output_buffering');
            $this->least = $size === 1 ? self::MAX_HELD : $size;
            $written = (string) ob_get_clean();
        }
        if (ob_get_level() > 0 || headers_sent()) {
            echo $written;
            return false;
        }
        if ($this->request === null) {
            $this->request = Request::current();
            // The application compares the tags that it gave.
            $tags = ['HTTP_IF_NONE_MATCH' => Page::withStrongTags($this->request->field('if-none-match') ?? '')];
            $_SERVER = array_intersect_key($tags, $_SERVER) + $_SERVER;
        }
        // PHP's buffer alone holds the copy, which is destructed when PHP drops the buffer.
        $isOpen = ob_start(clone $this, 1);
        echo $written;
        return $isOpen;
    }

    /** Whether the only buffer is the one that php.ini opens, whose handler has been called for nothing yet. */
    private static function isInBufferOfPhpIni(): bool
    {
        $size = (int) ini_get('output_buffering');
        $status = ob_get_status();
        return $size > 0 && ob_get_level() === 1 && $status['name'] === 'default output handler'
            && $status['chunk_size'] === ($size === 1 ? 0 : $size) && !headers_sent();
    }

    /** Ends the buffers from this level up, of which the lowest was opened by `open()`: the page ends there. */
    public static function close(int $level): void
    {
        while (ob_get_level() >= $level) {
            ob_end_flush();
        }
    }

    /**
     * What PHP calls with what was written.
     *
     * @internal
     * @return string|false false: as it is, from here on
     */
    public function __invoke(string $content, int $phase)
    {
        // Most calls are another piece of what is held.
        $bound = self::BOUNDS[$this->state] ?? 0;
        $length = strlen($this->held) + strlen($content);
        if ($phase === 0 && $length < $bound && ($this->stream !== null || !headers_sent())) {
            $this->held .= $content;
            $this->isUnused = false;
            return '';
        }
        if ($this->state === self::PASSING) {
            return $this->passing($content);
        }
        $this->isUnused = $this->isUnused && $content === '';
        try {
            if (($phase & PHP_OUTPUT_HANDLER_CLEAN) !== 0) {
                $this->clean(($phase & PHP_OUTPUT_HANDLER_FINAL) !== 0);
                return '';
            }
            if (($phase & PHP_OUTPUT_HANDLER_FINAL) === 0) {
                return $this->next($content, $phase);
            }
            [$this->held, $content] = [$this->held . $content, ''];
            return $this->last();
        } catch (Throwable $error) {
            // Of a stream only the end can be missing.
            $isSent = $this->state === self::STREAMING;
            $this->state = self::PASSING;
            return $isSent ? '' : $this->passing($content);
        }
    }

    /** Goes on in another buffer where a script ended this one. */
    public function __destruct()
    {
        $this->isEnding = true;
        foreach ($this->late as $part) {
            echo $part;
        }
        $this->late = [];
        if ($this->isContinued) {
            $next = clone $this;
            $next->isContinued = $next->isEnding = false;
            $next->isUnused = true;
            ob_start($next, 1);
        } elseif ($this->rest !== '') {
            echo $this->rest;
            if ($this->state === self::ENDED && function_exists('fastcgi_finish_request')) {
                // What is printed after the end of a stream is no part of it.
                fastcgi_finish_request();
            }
        }
    }

    /**
     * More of the page, of which a large piece is not copied: PHP itself has it three times by now.
     *
     * @return string|false
     */
    private function next(string $content, int $phase)
    {
        $isFlushed = ($phase & PHP_OUTPUT_HANDLER_FLUSH) !== 0;
        $length = strlen($this->held) + strlen($content);
        if ($this->state === self::BEGUN && !$isFlushed) {
            // It is time when PHP itself would send its header; what streams is not held even until then.
            $isDue = $length >= $this->least || (($phase & PHP_OUTPUT_HANDLER_START) !== 0 && Head::current()->isStream());
            $this->state = $isDue && $this->decide() !== null ? self::HELD : $this->state;
        }
        $isFull = $this->state === self::HELD && ($length >= self::MAX_HELD || headers_sent());
        if ($isFull || ($isFlushed && $this->state <= self::HELD)) {
            return $this->begin($content, $isFlushed);
        }
        if ($this->state === self::STREAMING) {
            return $this->streamed($content, $isFlushed);
        }
        if ($this->state === self::PASSING) {
            return $this->passing($content);
        }
        $this->held .= $content;
        return '';
    }

    /** @return array{Rule, array<string, string|null>, array<string, string|null>}|null as `plan()`; null: it is passed on */
    private function decide(): ?array
    {
        $this->state = self::PASSING;
        [$rule, $fields, $encoded] = $this->page->plan($this->request, Head::current(), null);
        if ($rule !== null && !headers_sent()) {
            return [$rule, $fields, $encoded];
        }
        self::send($fields);
        return null;
    }

    /**
     * Makes a stream of the page, unless the header was sent; a codec that fails here leaves the page as it is.
     *
     * @return string|false
     */
    private function begin(string $content, bool $isFlushed)
    {
        $decided = $this->decide();
        if ($decided === null) {
            return $this->passing($content);
        }
        self::send($decided[1]);
        $room = strlen($content) > self::MAX_HELD ? self::room() : PHP_INT_MAX;
        if ($room < 0) {
            return $this->passing($content);
        }
        $this->stream = $this->page->stream($decided[0]);
        $first = $this->streamed($content, $isFlushed, $room);
        $this->state = self::STREAMING;
        self::send($decided[2]);
        return $first;
    }

    /** The last of this buffer: of the page, too, unless the script goes on. */
    private function last(): string
    {
        [$function, $isLate] = self::closer();
        $isEnd = in_array($function, self::FINISHING, true);
        $goesOn = !$isEnd && $function !== 'close' && !$this->isUnused && !$this->isEnding;
        if ($this->state === self::STREAMING) {
            $this->isContinued = $goesOn;
            $last = $goesOn ? $this->streamed('', true) : $this->finished();
            // Else it is a loop that ends every buffer there is: the end comes when PHP drops this one.
            $isNow = $goesOn || $isEnd || $function === 'close' || $this->isEnding;
            $this->rest = $isNow ? '' : $last;
            return $isNow ? $last : '';
        }
        if ($isEnd || $function === 'close') {
            return $this->whole($isEnd);
        }
        if ($goesOn && $isLate) {
            // Others at the end of the script close all buffers, and more may follow: it is held until that is known.
            $this->isContinued = true;
            $this->kept = strlen($this->held);
            return '';
        }
        return $this->passed();
    }

    /** Drops what is held, and was not flushed by the end of a buffer. */
    private function clean(bool $isLast): void
    {
        $function = $isLast ? self::closer()[0] : 'ob_clean';
        if ($function === '') {
            // PHP 7 drops the page of such a request at its end, and has sent no header yet.
            $isHead = $this->stream === null && $this->request->method === 'HEAD';
            $isHead ? $this->whole(true) : $this->taken();
            return;
        }
        if ($function !== 'ob_get_clean') {
            $this->held = (string) substr($this->held, 0, $this->kept);
        }
        if ($this->state === self::STREAMING) {
            $this->isContinued = $isLast && !$this->isUnused && !$this->isEnding;
            $this->rest = $isLast && !$this->isContinued ? $this->finished() : '';
        } elseif ($isLast) {
            $this->rest = $this->passed();
        } elseif ($this->kept === 0) {
            $this->state = self::BEGUN;
        }
    }

    /** The whole page. */
    private function whole(bool $isEnd): string
    {
        $this->state = self::ENDED;
        $page = $this->taken();
        if (headers_sent()) {
            return $page;
        }
        [$body, $fields] = $this->page->encode($this->request, Head::current(), $page);
        // More may follow, as after every end but the script's.
        self::send($isEnd || !isset($fields['Content-Length']) ? $fields : ['Content-Length' => null] + $fields);
        return $body;
    }

    /** What is held, as it is, and so all that follows. */
    private function passed(): string
    {
        $this->state = self::PASSING;
        // Of what follows an empty buffer nothing is known.
        self::send($this->held === '' ? [] : $this->page->plan($this->request, Head::current(), null)[1]);
        return $this->taken();
    }

    /**
     * What is held, and this, as it is. PHP copies what it is given, but for false, which 8.5 deprecates.
     *
     * @return string|false
     */
    private function passing(string $content)
    {
        if ($this->late !== [] && $this->isEnding) {
            return false;
        }
        $isCopied = $this->held !== '' || PHP_VERSION_ID >= 80500;
        $isTooLarge = $isCopied && strlen($content) > self::MAX_HELD && self::room() < 2 * strlen($content);
        if ($this->late !== [] || ($isTooLarge && $this->held !== '')) {
            array_push($this->late, $this->taken(), $content);
            return '';
        }
        return $isCopied && !$isTooLarge ? $this->taken() . $content : false;
    }

    /**
     * What is held, and this, encoded.
     *
     * @throws CodecFailure when it takes more memory than there is
     */
    private function streamed(string $content, bool $isFlushed, int $room = PHP_INT_MAX): string
    {
        $encoded = '';
        foreach ([$this->held, $content] as $part) {
            for ($at = 0; $at < strlen($part); $at += self::PIECE) {
                $piece = $this->stream->add(substr($part, $at, self::PIECE));
                // It is copied, here and by PHP.
                if (2 * (strlen($encoded) + strlen($piece)) > $room) {
                    throw new CodecFailure('the memory limit');
                }
                $encoded .= $piece;
            }
        }
        $encoded .= $isFlushed ? $this->stream->flush() : '';
        $this->taken();
        return $encoded;
    }

    /** What is held, encoded, and the stream's end. */
    private function finished(): string
    {
        $this->state = self::ENDED;
        return $this->streamed('', false) . $this->stream->finish();
    }

    private function taken(): string
    {
        [$held, $this->held, $this->kept] = [$this->held, '', 0];
        return $held;
    }

    /** How many bytes there are up to the memory limit, and to spare. */
    private static function room(): int
    {
        $limit = (string) ini_get('memory_limit');
        $bytes = (int) $limit << (['k' => 10, 'm' => 20, 'g' => 30][strtolower(substr($limit, -1))] ?? 0);
        return $bytes < 0 ? PHP_INT_MAX : $bytes - memory_get_usage(true) - self::SPARE;
    }

    /**
     * What ends the buffer, and whether it is run by PHP after the script: in a shutdown function, a destructor.
     *
     * @return array{string, bool} a function's name: empty for PHP itself, when the script has ended; `close` for `close()`
     */
    private static function closer(): array
    {
        $calls = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS);
        $calls = array_slice($calls, (int) array_search('__invoke', array_column($calls, 'function'), true) + 1);
        $function = $calls[0]['function'] ?? '';
        $isOwn = ($calls[1]['class'] ?? '') === self::class && $calls[1]['function'] === 'close';
        return [$isOwn ? 'close' : $function, !isset(end($calls)['file'])];
    }

    /** @param array<string, string|null> $fields to set; null removes one */
    private static function send(array $fields): void
    {
        foreach (headers_sent() ? [] : $fields as $name => $value) {
            $value === null ? header_remove($name) : header("$name: $value");
        }
    }
}
