<?php
namespace Weighbridge;

/**
 * What every worker process does before its own work: nothing but replies may reach stdout, classes are found, a
 * fatal error leaves its reason on stderr. It is required by name, since nothing is found before it.
 */
final class Process
{
    /** @param string $name of the process, for what it says on stderr */
    public static function begin($name)
    {
        // Errors go to stderr, and stray output of any code that runs here is taken up by a buffer (see Service).
        // The limit on memory would only turn large payloads into crashes.
        ini_set('display_errors', 'stderr');
        ini_set('html_errors', '0');
        ini_set('log_errors', '0');
        ini_set('memory_limit', '-1');
        set_time_limit(0);
        error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);
        require __DIR__ . '/Classes.php';
        Classes::here();
        register_shutdown_function(function () use ($name) {
            self::reportFatal($name);
        });
        foreach (array('json_encode' => 'json', 'getrusage' => 'standard') as $function => $extension) {
            if (!function_exists($function)) {
                self::say($name, "this PHP has no $function(); the $extension extension is needed");
                exit(1);
            }
        }
    }

    private static function reportFatal($name)
    {
        $error = error_get_last();
        $fatal = E_ERROR | E_PARSE | E_CORE_ERROR | E_COMPILE_ERROR | E_USER_ERROR | E_RECOVERABLE_ERROR;
        if ($error !== null && ($error['type'] & $fatal) !== 0) {
            $message = strtok($error['message'], "\n");
            self::say($name, "fatal: $message, {$error['file']}:{$error['line']}");
        }
    }

    private static function say($name, $message)
    {
        file_put_contents('php://stderr', "$name: $message\n");
    }
}
