<?php
/**
 * Before the user's script: samples its stack with excimer each millisecond, and writes collapsed stacks.
 *
 * They are written when the script ends, before PHP itself ends, because some versions of excimer abort then; and each
 * 10,000 samples on the way, so that a script that is ended from outside leaves what was seen. Stacks are put together here:
 * some versions write wrong names when they do it themselves.
 */
call_user_func(function () {
    $file = getenv('WEIGH_PROFILE');
    if (!class_exists('ExcimerProfiler') || !is_string($file) || $file === '') {
        return;
    }
    $name = function (array $frame) {
        if (isset($frame['closure_line'])) {
            return '{closure:' . $frame['file'] . ':' . $frame['closure_line'] . '}';
        }
        if (!isset($frame['function'])) {
            return $frame['file'];
        }
        return isset($frame['class']) ? $frame['class'] . '::' . $frame['function'] : $frame['function'];
    };
    $write = function ($log) use ($file, $name) {
        $stacks = array();
        foreach ($log as $entry) {
            $stack = implode(';', array_map($name, array_reverse($entry->getTrace())));
            // What this function itself spends is not the script's.
            if ($stack !== '' && strpos($stack, __FILE__) === false) {
                $stacks[$stack] = (isset($stacks[$stack]) ? $stacks[$stack] : 0) + $entry->getEventCount();
            }
        }
        $lines = '';
        foreach ($stacks as $stack => $count) {
            $lines .= strtr($stack, "\r\n", '  ') . ' ' . $count . "\n";
        }
        file_put_contents($file, $lines, FILE_APPEND);
    };
    $profiler = new ExcimerProfiler();
    $profiler->setEventType(EXCIMER_REAL);
    $profiler->setPeriod(0.001);
    $profiler->setMaxDepth(1000);
    $profiler->setFlushCallback($write, 10000);
    register_shutdown_function(function () use ($profiler, $write) {
        // Stopping would hand the samples to the callback, and leave them in the log.
        $profiler->clearFlushCallback();
        $profiler->stop();
        $write($profiler->getLog());
    });
    $profiler->start();
});
if (getenv('WEIGH_PROFILE_PREPEND')) {
    include getenv('WEIGH_PROFILE_PREPEND');
}
