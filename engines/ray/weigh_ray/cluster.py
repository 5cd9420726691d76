"""A Ray cluster: one that is there, or one of this process's own on loopback; its nodes, one actor each."""

import hashlib
import os
import secrets
import socket
import subprocess
import sys
import threading
import time

import ray
from ray import cloudpickle
from ray.exceptions import ActorDiedError, ActorUnavailableError, GetTimeoutError, RayError
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from . import node
from .supervisor import die_with_parent

# A node is asked this often for what its processes said, which is its heartbeat too, and is lost after this silence.
BEAT = 1
SILENCE = 15
# Bytes of a file that travel at once.
PART = 16 << 20
# What a cluster of one's own may use for them.
STORE = 256 << 20
START = 60


class Trouble(Exception):
    """What the user is told: one line."""


class Cluster:
    """The nodes by name. `tell` is called from several threads with each message for the lab."""

    def __init__(self, tell):
        self.tell = tell
        self.members = {}
        self.group = None
        self.joined = None

    def open(self, address, least, most, seconds):
        """Connects, or starts a cluster, and puts an actor on each of up to `most` nodes; `least` have to be there in time."""
        deadline = time.monotonic() + seconds
        options = dict(configure_logging=False, log_to_driver=False, namespace="weigh-" + secrets.token_hex(8))
        if address is None:
            self._own(options)
        else:
            self._connect(address, options)
        alive = self._alive()
        while len(alive) < least and time.monotonic() < deadline:
            time.sleep(0.5)
            alive = self._alive()
        if len(alive) < least:
            raise Trouble("%s needed, but the cluster has %d after %d s; start more or ask for fewer" % (_nodes(least), len(alive), seconds))
        count = min(len(alive), most or len(alive))
        self.group = placement_group([{"CPU": 1}] * count, strategy="STRICT_SPREAD")
        if not self.group.wait(max(5, deadline - time.monotonic())):
            raise Trouble(
                "no processor is free for a worker on each of %s within %d s; something else uses the cluster (ray status shows it)" % (_nodes(count), seconds)
            )
        self._place(count, {entry["NodeID"]: entry for entry in alive})

    def _own(self, options):
        # The lab's private folder itself: names of sockets have to be short.
        folder = os.environ["WEIGH_RAY_DIR"]
        token = os.path.join(folder, "token")
        with open(os.open(token, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
        os.environ.pop("RAY_AUTH_TOKEN", None)
        os.environ["RAY_AUTH_TOKEN_PATH"] = token
        # As on systems where Ray is on loopback by itself; else it takes the machine's address in its place, and listens everywhere.
        ray._private.services.resolve_ip_for_localhost = lambda host: host
        try:
            ray.init(
                _node_ip_address="127.0.0.1",
                _temp_dir=folder,
                include_dashboard=False,
                object_store_memory=STORE,
                **options,
            )
        except (OSError, ValueError, RuntimeError, RayError) as error:
            raise Trouble("a cluster cannot be started on this machine: %s" % error) from error

    def _connect(self, address, options):
        files = (os.environ.get("RAY_AUTH_TOKEN_PATH"), os.path.expanduser("~/.ray/auth_token"))
        if not os.environ.get("RAY_AUTH_TOKEN") and not any(os.path.isfile(path or "") for path in files):
            raise Trouble("there is no token for the cluster at %s; name its file in RAY_AUTH_TOKEN_PATH" % address)
        try:
            own = _own_address(address)
            local = {entry["NodeManagerAddress"] for entry in _table(address) if entry["Alive"]}
            if own not in local:
                self._join(address, own)
            ray.init(address=address, _node_ip_address=own, **options)
        except (OSError, ValueError, RuntimeError, RayError) as error:
            hint = "check the address, and the token in RAY_AUTH_TOKEN_PATH"
            raise Trouble("the cluster at %s cannot be used (%s): %s" % (address, hint, error)) from error

    def _join(self, address, own):
        """Makes this machine a node without processors, as Ray asks of whoever uses a cluster."""
        command = [sys.executable, "-c", "from ray.scripts.scripts import main; main()", "start", "--address", address]
        command += ["--node-ip-address", own, "--num-cpus", "0", "--object-store-memory", str(STORE), "--disable-usage-stats", "--block"]
        self.joined = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, preexec_fn=die_with_parent)
        deadline = time.monotonic() + START
        while own not in {entry["NodeManagerAddress"] for entry in _table(address) if entry["Alive"]}:
            if self.joined.poll() is not None or time.monotonic() > deadline:
                raise Trouble("this machine (%s) cannot join the cluster at %s; its nodes have to reach each other" % (own, address))
            time.sleep(0.5)

    def _alive(self):
        return [entry for entry in ray.nodes() if entry["Alive"] and entry["Resources"].get("CPU", 0) >= 1]

    def _place(self, count, entries):
        cloudpickle.register_pickle_by_value(node)
        kind = ray.remote(num_cpus=1, concurrency_groups={"hear": 1}, max_restarts=0, max_task_retries=0)(node.Node)
        placed = [PlacementGroupSchedulingStrategy(self.group, index) for index in range(count)]
        actors = [kind.options(scheduling_strategy=strategy).remote() for strategy in placed]
        own = ray.get_runtime_context().get_node_id()
        for actor in actors:
            try:
                about = ray.get(actor.about.remote(), timeout=START)
                entry = entries[ray.get(actor.where.remote(), timeout=START)]
            except (RayError, KeyError) as error:
                raise Trouble("a worker cannot be started on a node: %s" % error) from error
            name = address = entry["NodeManagerAddress"]
            more = 2
            while name in self.members:
                name, more = "%s-%d" % (address, more), more + 1
            self.members[name] = Member(self, name, address, actor, about, entry, entry["NodeID"] == own)

    def end(self):
        """Ends what was started on the nodes, and then the cluster if it is this process's own."""
        for member in self.members.values():
            member.closing = True
        asked = [member.actor.end.remote() for member in self.members.values() if not member.is_lost]
        if asked:
            ray.wait(asked, num_returns=len(asked), timeout=5)
        if ray.is_initialized():
            for member in self.members.values():
                ray.kill(member.actor)
            if self.group is not None:
                remove_placement_group(self.group)
            ray.shutdown()
        if self.joined is not None:
            self.joined.terminate()
            self.joined.wait()


class Member:
    """A node with its actor."""

    def __init__(self, cluster, name, address, actor, about, entry, own):
        self.tell, self.name, self.actor = cluster.tell, name, actor
        self.is_lost = self.closing = False
        labels = entry.get("Labels", {})
        kind = labels.get("weigh-kind") or labels.get("ray.io/instance-type") or "%s, %d CPUs" % (about["processor"], about["cpus"])
        head = "node:__internal_head__" in entry["Resources"]
        self.about = dict(about, node=name, address=address, kind=kind, own=own, head=head)

    def listen(self):
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        after, heard = 0, time.monotonic()
        hear = self.actor.hear.options(concurrency_group="hear")
        while not self.closing:
            try:
                asked = hear.remote(after, BEAT)
                for after, event in ray.get(asked, timeout=max(1, SILENCE - (time.monotonic() - heard))):
                    what, worker, text = event
                    self.tell({"say": what, "worker": worker, {"line": "line", "ended": "how"}[what]: text})
                heard = time.monotonic()
            except ActorDiedError:
                return self.lose("it ended")
            except (GetTimeoutError, ActorUnavailableError):
                if time.monotonic() - heard >= SILENCE:
                    return self.lose("it has not answered for %d s" % SILENCE)
                time.sleep(0.5)
            except RayError as error:
                return self.lose(str(error))

    def lose(self, why):
        if not self.is_lost and not self.closing:
            self.is_lost = True
            self.tell({"say": "lost", "node": self.name, "why": _line(why)})

    def call(self, method, *args, failed=None):
        """Asks the actor; the calls of a node are carried out in their order."""
        if self.is_lost:
            return

        def done(future):
            error = future.exception()
            if error is not None and failed is not None and not self.is_lost:
                failed(_line(getattr(error, "cause", None) or error))

        getattr(self.actor, method).remote(*args).future().add_done_callback(done)

    def put(self, path, sha256, then, failed):
        """Brings a file onto the node, unless it has it; lines go on meanwhile."""
        threading.Thread(target=self._put, args=(path, sha256, then, failed), daemon=True).start()

    def _put(self, path, sha256, then, failed):
        try:
            if _known(self.actor, path, sha256, then):
                return
            with open(path, "rb") as file:
                digest, part = hashlib.sha256(), file.read(PART)
                digest.update(part)
                while True:
                    following = file.read(PART)
                    digest.update(following)
                    if not following:
                        break
                    # One part is on its way at a time: memory stays at two.
                    ray.get(self.actor.put.remote(sha256, ray.put(part), False), timeout=START)
                    part = following
            if digest.hexdigest() != sha256:
                return failed("%s has changed" % path)
            then(ray.get(self.actor.put.remote(sha256, ray.put(part), True), timeout=START))
        except (OSError, RayError) as error:
            failed(_line(error))


def _known(actor, path, sha256, then):
    found = ray.get(actor.find.remote(path, sha256), timeout=START)
    if found is not None:
        then(found)
    return found is not None


def _own_address(address):
    host, port = address.rsplit(":", 1)
    family, kind, protocol, _, target = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind, protocol) as asking:
        asking.connect(target)
        return asking.getsockname()[0]


def _table(address):
    from ray._private.state import GlobalState
    from ray._raylet import GcsClientOptions

    state = GlobalState()
    state._initialize_global_state(GcsClientOptions.create(address, None, allow_cluster_id_nil=True, fetch_cluster_id_if_nil=False))
    try:
        return state.node_table()
    finally:
        state.disconnect()


def _nodes(count):
    return "1 node" if count == 1 else "%d nodes" % count


def _line(text):
    return " ".join(str(text).split())[:500]
