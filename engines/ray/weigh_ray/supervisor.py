"""The engine's parent: whatever the engine leaves ends with it, however it ends. Ray's agents outlive a lost head by minutes, and Ray ends the
engine itself at once when the head is lost."""

import contextlib
import ctypes
import os
import signal

# PR_SET_PDEATHSIG and PR_SET_CHILD_SUBREAPER of prctl(2).
DEATH_SIGNAL = 1
SUBREAPER = 36


def split():
    """Goes on in a child. The caller's own process waits for it, ends what it left, and ends as it did."""
    _control_process(SUBREAPER, 1)
    parent = os.getpid()
    engine = os.fork()
    if engine == 0:
        die_with_parent()
        if os.getppid() != parent:
            os._exit(1)
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Of a lab that is killed the kernel tells, and leaves time to end everything.
    signal.signal(signal.SIGTERM, lambda *_: os.kill(engine, signal.SIGKILL))
    _control_process(DEATH_SIGNAL, signal.SIGTERM)
    pid = 0
    while pid != engine:
        pid, status = os.waitpid(-1, 0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _end_children()
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        with contextlib.suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def die_with_parent():
    """The kernel ends this process with the thread that started it."""
    _control_process(DEATH_SIGNAL, signal.SIGKILL)


def _control_process(what, value):
    ctypes.CDLL(None).prctl(what, value)


def _end_children():
    while children := _children():
        for child in children:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)


def _children():
    with contextlib.suppress(OSError), open("/proc/self/task/%d/children" % os.getpid()) as file:
        return [int(child) for child in file.read().split()]
    return []
