<?php
/**
 * Before the user's script: samples its stack with excimer each millisecond, and writes collapsed stacks.
 *
 * They are written when the script ends, before PHP itself ends, because some versions of excimer abort then; and each
 * 10,000 samples on the way, so that a script that is ended from outside leaves what was seen.
 */
call_user_func(function () {
    $file = getenv('WEIGH_PROFILE');
    if (!class_exists('ExcimerProfiler') || !is_string($file) || $file === '') {
        return;
    }
    $write = function ($log) use ($file) {
        file_put_contents($file, $log->formatCollapsed(), FILE_APPEND);
    };
    $profiler = new ExcimerProfiler();
    $profiler->setEventType(EXCIMER_REAL);
    $profiler->setPeriod(0.001);
    $profiler->setMaxDepth(1000);
    $profiler->setFlushCallback($write, 10000);
    register_shutdown_function(function () use ($profiler, $write) {
        $profiler->stop();
        $write($profiler->getLog());
    });
    $profiler->start();
});
if (getenv('WEIGH_PROFILE_PREPEND')) {
    include getenv('WEIGH_PROFILE_PREPEND');
}
