<?php

declare(strict_types=1);

namespace Weighbridge\Library;

use Closure;
use Throwable;
use Weighbridge\Library\Settings\InvalidSettings;

/**
 * An output handler that encodes pages: `OutputHandler::start();` before any output.
 *
 * A page that ends unflushed is encoded in one call. One that is flushed becomes a stream, so that each part leaves when
 * the script flushes it. Whatever goes wrong before the first byte, the page is sent as it is.
 */
final class OutputHandler
{
    /** Memory that is kept while a stream is open, so that one which ends at the memory limit can be ended. */
    private const RESERVE = 1 << 18;

    /** Encoders take a few times this much beside the page: the window of zstd is the largest. */
    private const WORKING_SPACE = 1 << 22;

    private Page $page;

    /** Null: that of `$_SERVER`. */
    private ?Request $request;

    /** Set while a page is sent in pieces. */
    private ?StreamBuffer $stream = null;

    /** Whether a response was decided about; what follows of it goes the same way. */
    private bool $isDecided = false;

    private string $reserve = '';

    /** How often the stream may be taken up again after its buffer was closed in the middle of the page. */
    private int $reopenings = 1;

    public function __construct(?Settings $settings = null, ?Request $request = null, ?Codec $codec = null)
    {
        $this->page = new Page(($settings ?? Settings::defaults())->page, $codec);
        $this->request = $request;
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
            $handler = new self(Settings::load($path));
        } catch (InvalidSettings $invalid) {
            error_log('weighbridge: ' . $invalid->getMessage());
            return false;
        }
        // What php.ini's `output_buffering` opened would hold back every flush of the script.
        $written = ob_list_handlers() === ['default output handler'] && (int) ini_get('output_buffering') !== 0
            ? (string) ob_get_clean()
            : '';
        $isOpen = $handler->open();
        echo $written;
        return $isOpen;
    }

    /** Opens the output buffer that this handler belongs to. */
    public function open(): bool
    {
        $level = ob_get_level();
        $guard = new Guard(function () use ($level): void {
            // At its end a script's objects go first, and its buffers after them: the buffer is still there then.
            if (ob_get_level() <= $level) {
                $this->reopen();
            }
        });
        if (PHP_VERSION_ID < 80000 && ($this->request ?? Request::current())->method === 'HEAD') {
            // It drops its buffers at the end of such a request, and the handler would set no header fields.
            self::atTheEnd(static function () use ($level): void {
                while (ob_get_level() > $level) {
                    ob_end_flush();
                }
            });
        }
        // Only this closure holds the guard, so that it learns when PHP drops the buffer.
        return ob_start(function (string $content, int $phase) use ($guard): string {
            return $this($content, $phase);
        });
    }

    /**
     * Calls a function when the script has ended, after all that were registered before that.
     *
     * @param Closure(): void $then
     */
    private static function atTheEnd(Closure $then): void
    {
        register_shutdown_function(static function () use ($then): void {
            register_shutdown_function($then);
        });
    }

    /** What PHP calls with the content of the buffer. */
    public function __invoke(string $content, int $phase): string
    {
        if (($phase & PHP_OUTPUT_HANDLER_START) !== 0 && $this->stream === null) {
            $this->isDecided = false;
        }
        if (($phase & PHP_OUTPUT_HANDLER_CLEAN) !== 0) {
            return '';
        }
        $isLast = ($phase & PHP_OUTPUT_HANDLER_FINAL) !== 0;
        try {
            return $this->isDecided ? $this->go($content, $phase) : $this->begin($content, $phase, $isLast);
        } catch (Throwable $error) {
            // Nothing left before the decision; after it the stream is broken, and only its end can be missing.
            $wasStream = $this->stream !== null;
            $this->stream = null;
            return $wasStream ? '' : $content;
        }
    }

    /** The first content of a response: all of it, or what was flushed. */
    private function begin(string $content, int $phase, bool $isLast): string
    {
        $this->isDecided = true;
        if (headers_sent() || self::isEncodedElsewhere()) {
            return $content;
        }
        $request = $this->request ?? Request::current();
        if ($isLast) {
            if (!self::hasMemoryFor(strlen($content))) {
                return $content;
            }
            [$body, $fields] = $this->page->encode($request, Head::current(), $content);
            self::send($fields);
            return $body;
        }
        $plan = $this->page->plan($request, Head::current(), null);
        $stream = $this->page->stream($plan);
        if ($stream === null) {
            self::send($plan->fields);
            return $content;
        }
        $this->stream = new StreamBuffer($stream);
        $this->reserve = str_repeat('=', self::RESERVE);
        self::atTheEnd(function (): void {
            $this->endAfterFatalError();
        });
        $encoded = $this->go($content, $phase);
        self::send($plan->fields + $plan->encoded);
        return $encoded;
    }

    /** More content of a response that was decided about. */
    private function go(string $content, int $phase): string
    {
        $stream = $this->stream;
        if ($stream === null) {
            return $content;
        }
        if (($phase & PHP_OUTPUT_HANDLER_FINAL) !== 0) {
            $this->stream = null;
        }
        return $stream($content, $phase);
    }

    /**
     * Takes the stream up again after its buffer was closed without its end, as error handlers do before they print
     * their page. Done once: a script that closes every buffer there is would never end.
     */
    private function reopen(): void
    {
        $stream = $this->stream;
        if ($stream === null) {
            return;
        }
        if ($this->reopenings-- > 0) {
            $this->open();
            return;
        }
        $this->stream = null;
        echo $stream('', PHP_OUTPUT_HANDLER_FINAL);
        // What is printed after its end is no part of the page, and PHP-FPM can be told so.
        if (function_exists('fastcgi_finish_request')) {
            fastcgi_finish_request();
        }
    }

    /** Ends the stream of a script that a fatal error ended: PHP drops its buffers when it is out of memory. */
    private function endAfterFatalError(): void
    {
        $this->reserve = '';
        $error = error_get_last();
        if ($error === null || ($error['type'] & (E_ERROR | E_CORE_ERROR)) === 0) {
            return;
        }
        while ($this->stream !== null && ob_get_level() > 0) {
            ob_end_flush();
        }
        if ($this->stream !== null) {
            // PHP dropped them already.
            echo $this->go('', PHP_OUTPUT_HANDLER_FINAL);
        }
    }

    /** Whether PHP or another handler encodes or changes what this one gives out. */
    private static function isEncodedElsewhere(): bool
    {
        if (!in_array(strtolower((string) ini_get('zlib.output_compression')), ['', '0', 'off', 'no', 'false'], true)) {
            return true;
        }
        $below = array_slice(ob_list_handlers(), 0, -1);
        $own = [self::class . '::__invoke', Closure::class . '::__invoke', 'default output handler'];
        return array_diff($below, $own) !== [];
    }

    /** Whether an encoder has room beside a page of this length. */
    private static function hasMemoryFor(int $length): bool
    {
        $limit = self::bytes((string) ini_get('memory_limit'));
        return $limit <= 0 || $limit - memory_get_usage() > 2 * $length + self::WORKING_SPACE;
    }

    /** The number that php.ini's `128M` stands for. */
    private static function bytes(string $setting): int
    {
        $unit = strpos('kmg', strtolower(substr($setting, -1)) ?: '?');
        return (int) $setting << ($unit === false ? 0 : 10 * ($unit + 1));
    }

    /** @param array<string, string|null> $fields to set; null removes one */
    private static function send(array $fields): void
    {
        foreach ($fields as $name => $value) {
            if ($value === null) {
                header_remove($name);
            } else {
                header("$name: $value");
            }
        }
    }
}
