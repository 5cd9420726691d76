"""An engine for tests: it speaks the protocol of docs/dev/CLUSTER.md, and its nodes are this machine. Usage: engine.py NODES DEED [COUNT]

DEED is what it does at the visit with that number (from 1; the parts of a visit count), or at any: nothing, have nodes of several kinds,
kill the worker, lose the node, end itself, or answer as none should. With `own`, all nodes are the lab's machine; with `lose-load` too, and the
last one is lost when its load has said that often how far it is.
"""

import json
import os
import signal
import subprocess
import sys
import threading

nodes, deed, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 0
names = ["node-%d" % n for n in range(1, nodes + 1)]
lock, workers, visits, gone = threading.Lock(), {}, 0, set()


def tell(message, raw=None):
    with lock:
        sys.stdout.buffer.write((raw if raw is not None else json.dumps(message).encode()) + b"\n")
        sys.stdout.flush()


def listen(worker, node, process):
    for line in process.stdout:
        line = line.decode().rstrip("\n")
        if node == names[-1] and line.startswith('{"slice"') and '"is_preflight":false' in line:
            progress(node)
        if '"answer":"visit"' in line:
            if deed == "other-cell":
                line = line.replace('"cell":"', '"cell":"../', 1)
            if deed == "not-json":
                line = "\x1b[2J no JSON"
            if deed == "too-long":
                line = "x" * (65 << 20)
        tell({"say": "line", "worker": worker, "line": line})
    code = process.wait()
    if node not in gone:
        tell({"say": "ended", "worker": worker, "how": "exit status: %d" % code})


def end(node=None):
    for own, process in list(workers.values()):
        if node in (None, own) and process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def lose(node):
    gone.add(node)
    end(node)
    tell({"say": "lost", "node": node, "why": "it has not answered for 15 s"})


def progress(node):
    global visits
    visits += 1
    if deed == "lose-load" and visits == count:
        lose(node)


def visit(node):
    global visits
    visits += 1
    if visits != count:
        return
    if deed == "kill":
        end(node)
    elif deed == "lose":
        lose(node)
    elif deed == "end":
        os._exit(7)
    elif deed == "no-message":
        tell(None, b"Traceback (most recent call last):")
    elif deed == "strangers":
        tell({"say": "line", "worker": 4711, "line": "{}"})
        tell({"say": "ended", "worker": 4711, "how": "who?"})
        tell({"say": "put", "node": "node-9", "sha256": "0" * 64, "path": "/etc/passwd"})
        tell({"say": "lost", "node": "node-9", "why": "who?"})


for line in sys.stdin.buffer:
    message = json.loads(line)
    say = message["say"]
    if say == "open":
        if message["least"] > nodes:
            tell({"say": "fault", "why": "%d nodes needed, but the cluster has %d" % (message["least"], nodes)})
            break
        about = {"host": "h", "system": "Linux", "machine": os.uname().machine, "cpus": 1, "memory": 1, "nice": 0}
        # The lab's own machine is the first, so the others are preferred.
        kind = lambda name: name if deed == "kinds" else "k"
        own = lambda name: name == names[0] or deed in ("own", "lose-load")
        chosen = names[: message["most"] or nodes]
        tell({"say": "nodes", "nodes": [dict(about, node=name, kind=kind(name), address=name, own=own(name)) for name in chosen]})
    elif say == "put":
        tell({"say": "put", "node": message["node"], "sha256": message["sha256"], "path": message["file"]})
    elif say == "start":
        command = [message["program"], "agent", "--exec", str(os.getpid()), "--", message["program"], *message["args"]]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, start_new_session=True)
        workers[message["worker"]] = (message["node"], process)
        threading.Thread(target=listen, args=(message["worker"], message["node"], process), daemon=True).start()
    elif say == "end":
        break
    else:
        node, process = workers.get(message["worker"], (None, None))
        if node is None or node in gone:
            continue
        try:
            if say == "line":
                process.stdin.write(message["line"].encode() + b"\n")
                process.stdin.flush()
                asked = json.loads(message["line"])
                if isinstance(asked, dict) and "visit" in (asked.get("ask"), asked.get("op")):
                    visit(node)
            elif say == "close":
                process.stdin.close()
            elif say == "kill":
                os.killpg(process.pid, signal.SIGKILL)
        except OSError:
            pass
end()
