"""A node's end: an actor that keeps a private folder, starts processes in it and relays their lines.

It is sent to the nodes by value, so it uses the standard library, and Ray where it runs.
"""

import collections
import fcntl
import hashlib
import os
import platform
import queue
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

# What the folders of a lab begin with, and the file that is locked as long as one is in use: the next lab there removes what was left.
PREFIX = "weigh-tmp-"
LOCK = ".lock"
# Bytes said by processes that the other end has not taken yet; beyond them nothing further is read.
WAITING = 64 << 20
# The longest line of a process, and what may wait to be read by one.
LONGEST = 256 << 20
# Seconds without a word from the other end after which a node ends what it started.
DESERTED = 60
PASSED = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH")


class Node:
    """One node. Calls of the group `io` are carried out in their order; `hear` waits beside them."""

    def __init__(self):
        os.umask(0o077)
        self.folder = tempfile.mkdtemp(prefix=PREFIX)
        self.lock = open(os.path.join(self.folder, LOCK), "w")
        fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.workers = {}
        self.drafts = {}
        self.events = collections.deque()
        self.number = 0
        self.waiting = 0
        self.changed = threading.Condition()
        self.called = time.monotonic()
        # The kernel ends a process with the thread that started it: this one stays.
        self.orders = queue.Queue()
        threading.Thread(target=self._starter, daemon=True).start()
        threading.Thread(target=self._watch, daemon=True).start()
        try:
            os.setpriority(os.PRIO_PROCESS, 0, 0)
        except OSError:
            pass

    def about(self):
        """What the node is."""
        return {
            "host": socket.gethostname(),
            "system": platform.system(),
            "machine": platform.machine(),
            "processor": _processor(),
            "cpus": len(os.sched_getaffinity(0)),
            "memory": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
            "nice": os.getpriority(os.PRIO_PROCESS, 0),
        }

    def where(self):
        """The identifier that Ray has for the node."""
        import ray

        return ray.get_runtime_context().get_node_id()

    def find(self, path, sha256):
        """The path of a file with that digest, if the node has it."""
        own = os.path.join(self.folder, sha256)
        for candidate in (own, path):
            try:
                if candidate == own or _digest(candidate) == sha256:
                    os.stat(candidate)
                    return candidate
            except OSError:
                pass
        return None

    def put(self, sha256, part, last):
        """Takes a part of a file; with the last one the file gets its name, if its digest is right."""
        draft = self.drafts.get(sha256)
        if draft is None:
            draft = self.drafts[sha256] = tempfile.NamedTemporaryFile(dir=self.folder, delete=False)
        draft.write(part)
        if not last:
            return None
        del self.drafts[sha256]
        draft.close()
        if _digest(draft.name) != sha256:
            os.unlink(draft.name)
            raise ValueError("the file arrived damaged")
        os.chmod(draft.name, 0o700)
        path = os.path.join(self.folder, sha256)
        os.rename(draft.name, path)
        return path

    def start(self, worker, program, args):
        """Starts a process that speaks lines."""
        done = queue.Queue()
        self.orders.put((worker, program, args, done))
        trouble = done.get()
        if trouble:
            self._say(("ended", worker, trouble))

    def say(self, worker, line):
        """Sends a line; none closes the process's input."""
        process = self.workers.get(worker)
        if process is None:
            return
        process.queued += len(line or "")
        if process.queued > LONGEST:
            self.kill(worker)
        else:
            process.lines.put(line)

    def kill(self, worker):
        """Ends a process with all that it started in its group."""
        process = self.workers.get(worker)
        if process is not None:
            _kill(process)

    def hear(self, after, seconds):
        """What processes said after that number, each with its own; waits so long for something."""
        deadline = time.monotonic() + seconds
        with self.changed:
            self.called = time.monotonic()
            while self.events and self.events[0][0] <= after:
                self.waiting -= len(self.events.popleft()[1][2])
            self.changed.notify_all()
            while not self.events and time.monotonic() < deadline:
                self.changed.wait(deadline - time.monotonic())
            self.called = time.monotonic()
            return list(self.events)

    def end(self):
        """Ends everything, and removes the folder."""
        for process in list(self.workers.values()):
            _kill(process)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _say(self, event):
        with self.changed:
            while self.waiting > WAITING:
                self.changed.wait()
            self.number += 1
            self.waiting += len(event[2])
            self.events.append((self.number, event))
            self.changed.notify_all()

    def _starter(self):
        while True:
            worker, program, args, done = self.orders.get()
            try:
                environment = {name: os.environ[name] for name in PASSED if name in os.environ}
                environment.update(LC_ALL="C", TZ="UTC")
                process = subprocess.Popen(
                    [program, "agent", "--exec", str(os.getpid()), "--", program, *args],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=self.folder,
                    env=environment,
                    start_new_session=True,
                )
            except OSError as error:
                done.put("it cannot be started: %s" % error)
                continue
            process.lines, process.queued = queue.Queue(), 0
            self.workers[worker] = process
            for target in (self._write, self._read):
                threading.Thread(target=target, args=(worker, process), daemon=True).start()
            done.put(None)

    def _write(self, worker, process):
        while True:
            line = process.lines.get()
            try:
                if line is None:
                    process.stdin.close()
                    return
                process.stdin.write(line.encode() + b"\n")
                process.stdin.flush()
            except OSError:
                return
            process.queued -= len(line)

    def _read(self, worker, process):
        words = collections.deque(maxlen=1)
        errors = threading.Thread(target=_last_words, args=(process.stderr, words), daemon=True)
        errors.start()
        how = None
        while True:
            line = process.stdout.readline(LONGEST + 1)
            if not line:
                break
            if len(line) > LONGEST:
                how = "it said a line of over %d bytes" % LONGEST
                _kill(process)
                break
            self._say(("line", worker, line.rstrip(b"\n").decode(errors="replace")))
        if not _has_ended(process, 1):
            how = how or "it closed its output and stayed"
        _kill(process)
        code = process.wait()
        errors.join(0.5)
        how = how or ("signal: %d" % -code if code < 0 else "exit status: %d" % code)
        if words:
            how += "; its last words: " + words[0]
        del self.workers[worker]
        process.lines.put(None)
        self._say(("ended", worker, how))

    def _watch(self):
        while time.monotonic() - self.called < DESERTED:
            time.sleep(1)
        self.end()
        os._exit(1)


def _kill(process):
    # The group as long as its leader is not waited for; what left it ends with the process by the kernel's hand.
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        pass


def _has_ended(process, seconds):
    deadline = time.monotonic() + seconds
    options = os.WEXITED | os.WNOWAIT | os.WNOHANG
    while os.waitid(os.P_PID, process.pid, options) is None:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def _last_words(stream, words):
    for line in iter(lambda: stream.readline(1 << 16), b""):
        if line.strip():
            words.append(line.strip()[:300].decode(errors="replace"))


def _digest(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def _processor():
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith(("model name", "Model", "Hardware")):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()
