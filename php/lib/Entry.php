<?php
namespace Weighbridge;

/**
 * What every entry script does round its own work: classes are found, the query is read, and whatever goes wrong
 * becomes a status and one line of text, so that a fault shows at the other end. It is kept small, because each
 * request pays for it.
 */
final class Entry
{
    private static $statuses = array('parameter' => 400, 'forbidden' => 403, 'unacceptable' => 406, 'missing' => 501);

    /** @param \Closure $respond gets the Query */
    public static function run(\Closure $respond)
    {
        ini_set('display_errors', '0');
        spl_autoload_register(function ($class) {
            // The library's are its own autoloader's.
            if (strncmp($class, 'Weighbridge\\', 12) === 0 && strpos($class, '\\', 12) === false) {
                require __DIR__ . '/' . substr($class, 12) . '.php';
            }
        });
        set_error_handler(array('Weighbridge\\Service', 'raise'), E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);
        register_shutdown_function(array(__CLASS__, 'showFatal'));
        try {
            $respond(new Query($_GET));
        } catch (Fault $fault) {
            self::refuse($fault);
        } catch (\Exception $error) {
            self::unexpected($error);
        } catch (\Throwable $error) {
            self::unexpected($error);
        }
    }

    /**
     * Sends the content that the query names in the way that it names.
     *
     * @param string        $subject what the entry script serves
     * @param string        $home    the folder that has ways/
     * @param \Closure|null $before  gets the Query before anything is sent
     */
    public static function send($subject, $home, $before = null)
    {
        self::run(function (Query $query) use ($subject, $home, $before) {
            $ways = new Ways($home);
            $content = new Content($query->text('content'));
            if ($before !== null) {
                $before($query);
            }
            $ways->way($query->text('way'))->send($subject, $content, $query->params());
        });
    }

    /** Shows an error that ended the script, such as memory that ran out; no catch sees those. */
    public static function showFatal()
    {
        $error = error_get_last();
        $fatal = E_ERROR | E_PARSE | E_CORE_ERROR | E_COMPILE_ERROR | E_USER_ERROR | E_RECOVERABLE_ERROR;
        if ($error !== null && ($error['type'] & $fatal) !== 0) {
            $where = basename($error['file']) . ':' . $error['line'];
            self::say(500, 'PHP fatal error: ' . strtok($error['message'], "\n") . " ($where)");
        }
    }

    /** Answers with what a fault says and nothing else; where a part of the body is gone already, after it. */
    public static function refuse(Fault $fault)
    {
        $parts = $fault->describe();
        $status = isset(self::$statuses[$fault->kind()]) ? self::$statuses[$fault->kind()] : 500;
        self::say($status, $parts['message'] . (isset($parts['remedy']) ? "; try: {$parts['remedy']}" : ''));
    }

    /** @param \Exception|\Throwable $error */
    private static function unexpected($error)
    {
        $where = basename($error->getFile()) . ':' . $error->getLine();
        self::say(500, $error->getMessage() . " ($where)");
    }

    private static function say($status, $message)
    {
        $line = Text::line($message);
        // What was buffered, by an encoding handler too, is not the answer any more.
        while (ob_get_level() > 0 && ob_end_clean()) {
            continue;
        }
        if (!headers_sent()) {
            foreach (array('Content-Encoding', 'Content-Length', 'Content-Disposition', 'ETag') as $name) {
                header_remove($name);
            }
            http_response_code($status);
            header('Content-Type: text/plain; charset=utf-8');
            header('Cache-Control: no-store');
            header("X-Weigh-Fault: $line");
        } else {
            // The status is gone: the log has the reason.
            error_log($line);
        }
        echo "$line\n";
    }
}
