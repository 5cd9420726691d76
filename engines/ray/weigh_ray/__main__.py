"""The engine: one JSON object a line, from the lab on stdin and to it on stdout."""

import json
import os
import sys
import threading

from .supervisor import split


def main():
    split()
    out = os.fdopen(os.dup(1), "wb")
    # What libraries print is no message.
    os.dup2(2, 1)
    lock = threading.Lock()

    def tell(message):
        line = json.dumps(message).encode() + b"\n"
        try:
            with lock:
                out.write(line)
                out.flush()
        except OSError:
            os._exit(1)

    from .cluster import Cluster, Trouble

    cluster = Cluster(tell)
    try:
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if message["say"] == "end":
                break
            carry_out(cluster, message, tell)
    except Trouble as error:
        tell({"say": "fault", "why": " ".join(str(error).split())[:1000]})
    finally:
        cluster.end()


def carry_out(cluster, message, tell):
    say = message["say"]
    if say == "open":
        cluster.open(message.get("address"), message["least"], message.get("most"), message["seconds"])
        tell({"say": "nodes", "nodes": [member.about for member in cluster.members.values()]})
        for member in cluster.members.values():
            member.listen()
        return
    member = cluster.members.get(message["node"])
    if member is None:
        return tell({"say": "fault", "why": "no node %s" % message["node"]})
    if say == "put":
        about = {"node": message["node"], "sha256": message["sha256"]}
        member.put(
            message["file"],
            message["sha256"],
            lambda path: tell({"say": "put", "path": path, **about}),
            lambda why: tell({"say": "put", "why": why, **about}),
        )
    elif say == "start":
        worker = message["worker"]
        member.call(
            "start",
            worker,
            message["program"],
            message["args"],
            failed=lambda why: tell({"say": "ended", "worker": worker, "how": why}),
        )
    elif say in ("line", "close"):
        member.call("say", message["worker"], message.get("line"))
    elif say == "kill":
        member.call("kill", message["worker"])


if __name__ == "__main__":
    main()
