#!/usr/bin/env python3
"""What `weigh site` says that a site sends, compared with what the same server answers to an independent client.

Each folder beside this file is a configuration: the server's file, and what it needs. It is started by hand on loopback with 31 files and a page of
PHP, and asked for each by four classes of clients. `weigh site` gets the same configuration, document root and a log that names each URL.

    WEIGH=target/release/weigh bench/asking/asking.py [NAME…]     default: all configurations
"""

import concurrent.futures
import glob
import gzip
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
WEIGH = os.path.abspath(os.environ.get("WEIGH", HERE / "../../target/release/weigh"))
SERVERS = {"nginx.conf": "nginx", "apache2.conf": "apache2", "Caddyfile": "caddy", "lighttpd.conf": "lighttpd"}
# What clients of each class send, in the order of browsers.
CLASSES = {
    ("zstd", "br", "gzip"): "gzip, deflate, br, zstd",
    ("br", "gzip"): "gzip, deflate, br",
    ("gzip",): "gzip, deflate",
    (): None,
}
SHOWN = int(os.environ.get("ASKING_SHOWN", "12"))
AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
# Paths with lengths. No two have both the same type and the same size band, so that each stands for a stratum of its own and is sampled.
TEXTS = {
    "css/tiny.css": 400, "css/menu.css": 5_000, "css/app.css": 120_000, "js/boot.js": 300, "js/parts.mjs": 20_000, "js/app.js": 200_000,
    "js/vendor.js": 600_000, "img/dot.svg": 500, "img/logo.svg": 6_000, "img/map.svg": 60_000, "data/tiny.json": 120, "data/list.json": 40_000,
    "feed.xml": 12_000, "data/places.geojson": 20_000, "site.webmanifest": 480, "robots.txt": 60, "text/long.txt": 100_000,
    "pages/short.html": 240, "pages/guide.html": 20_000, "files/table.csv": 60_000,
}
BINARIES = {
    "img/icon.png": 2_000, "img/photo.jpg": 150_000, "img/small.webp": 30_000, "img/blank.gif": 700, "fonts/text.woff2": 30_000,
    "files/manual.pdf": 80_000, "files/archive.tgz": 40_000, "files/backup.zip": 300_000,
}
# Binary, and worth compressing.
MIXED = {"favicon.ico": 15_000, "fonts/title.ttf": 60_000, "app/module.wasm": 100_000}
SIDES = {"css/app.css": ("gz", "br"), "js/app.js": ("gz", "br"), "img/map.svg": ("gz",), "pages/guide.html": ("gz",), "app/module.wasm": ("br",)}
PAGE = """<?php
header('Cache-Control: no-cache, private');
echo "<!doctype html><title>A page</title><link rel=stylesheet href=/css/app.css><script src=/js/app.js></script>\\n";
for ($i = 0; $i < 500; $i++) echo "<p id=p$i>Line $i of a page that is made per request, " . md5((string) $i) . "</p>\\n";
"""


def content(root):
    """Writes the files, the same in each run, with their precompressed variants; gives their paths."""
    draw = random.Random(20260101)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz-_", k=draw.randint(3, 9))) for _ in range(900)]
    for path, length in TEXTS.items():
        out = []
        while sum(map(len, out)) < length:
            out.append("".join(draw.choice(words) + draw.choice([" ", ": ", ";\n", "{", "}\n"]) for _ in range(50)))
        write(root / path, "".join(out)[:length].encode())
    for path, length in BINARIES.items():
        write(root / path, draw.randbytes(length))
    for path, length in MIXED.items():
        write(root / path, b"".join(draw.randbytes(6) + bytes(10) for _ in range(length // 16 + 1))[:length])
    brotli = "const z=require('zlib'),f=require('fs');process.stdout.write(z.brotliCompressSync(f.readFileSync(process.argv[1])))"
    for path, endings in SIDES.items():
        side = {
            "gz": lambda file: gzip.compress(file.read_bytes(), 9, mtime=0),
            "br": lambda file: subprocess.run(["node", "-e", brotli, file], capture_output=True, check=True).stdout,
        }
        for ending in endings:
            write(Path(f"{root / path}.{ending}"), side[ending](root / path))
    return [*TEXTS, *BINARIES, *MIXED]


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Running:
    """A configuration in a private folder, with its server and PHP; ends what it started."""

    def __init__(self, name, home=HERE):
        self.folder = home / name
        self.main = next(file for file in SERVERS if (self.folder / file).exists())
        self.run = Path(tempfile.mkdtemp(prefix="asking-"))
        self.run.chmod(0o755)
        self.root = self.run / "public"
        # Magento's files have a version in their URLs, and none on disk.
        self.below, self.version = ("static/", "version1764150000/") if name == "nginx-magento" else ("", "")
        self.paths = [self.below + path for path in content(self.root / self.below)]
        write(self.root / "index.php", PAGE.encode())
        self.port, self.backend = free_port(), free_port()
        is_root = os.geteuid() == 0
        values = {
            "ROOT": self.root, "RUN": self.run, "PORT": self.port, "BACKEND": self.backend, "PHP": self.run / "php.sock",
            "MODULES": "/usr/lib/apache2/modules", "USER": "User www-data\nGroup www-data" if is_root else "",
        }
        for file in [*self.folder.iterdir(), HERE / "nginx-private.conf", HERE / "apache-private.conf"]:
            text = file.read_text()
            for key, value in values.items():
                text = text.replace(f"@{key}@", str(value))
            write(self.root / ".htaccess" if file.name == "htaccess" else self.run / file.name, text.encode())
        self.config = self.run / self.main
        self.env = {**os.environ, "ASKING_ROOT": str(self.root), "ASKING_HOST": "app.example", "HOME": str(self.run), "XDG_DATA_HOME": str(self.run)}
        self.host = self.host_name()
        self.processes = []

    def host_name(self):
        """The name that the file gives the site."""
        return re.search(r"[a-z0-9-]+(\.[a-z0-9-]+)*\.example\b", self.config.read_text().replace("\\.", ".")).group()

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        user = "user = www-data\ngroup = www-data\n" if os.geteuid() == 0 else ""
        pool = f"[global]\nerror_log = {self.run}/php.log\ndaemonize = no\n[www]\n{user}listen = {self.run}/php.sock\nlisten.mode = 0666\npm = static\npm.max_children = 2\n"
        write(self.run / "pool.conf", pool.encode())
        self.spawn([php_fpm(), "--fpm-config", self.run / "pool.conf"])
        server = {
            "nginx": ["nginx", "-c", self.config, "-g", "daemon off;"],
            "apache2": ["apache2", "-f", self.config, "-DFOREGROUND"],
            "caddy": ["caddy", "run", "--config", self.config, "--adapter", "caddyfile"],
            "lighttpd": ["lighttpd", "-D", "-f", self.config],
        }[SERVERS[self.main]]
        self.spawn(server)
        ports = [self.port]
        if (self.run / "backend.conf").exists():
            self.spawn(["apache2", "-f", self.run / "backend.conf", "-DFOREGROUND"])
            ports.append(self.backend)
        for port in ports:
            self.wait(port)

    def spawn(self, command):
        log = open(self.run / "out.log", "ab")
        env = {**self.env, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
        # Apache signals its process group when it stops.
        self.processes.append(subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True))

    def wait(self, port):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                if self.get("/", None, port)[0] < 500:
                    return
            except OSError:
                pass
            if any(process.poll() is not None for process in self.processes):
                break
            time.sleep(0.05)
        logs = [file.read_text(errors="replace")[-600:] for file in (self.run / "out.log", self.run / "error.log") if file.exists()]
        raise RuntimeError("it did not come up: " + " ".join(logs).strip())

    def fetch(self, url, fields, method="GET", version=None, port=None):
        """The answer and its body."""
        client = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=30)
        if version == "1.0":
            client._http_vsn, client._http_vsn_str = 10, "HTTP/1.0"
        client.putrequest(method, url, skip_host=True, skip_accept_encoding=True)
        own = {"Host": f"{self.host}:{self.port}", "User-Agent": AGENT, "Accept": "*/*", "Connection": "close"}
        for field, value in (own | fields).items():
            if value is not None:
                client.putheader(field, value)
        client.endheaders()
        answer = client.getresponse()
        body = answer.read()
        client.close()
        return answer, body

    def get(self, url, accept, port=None):
        """Status, content coding, bytes of the body, whether Vary names Accept-Encoding, Cache-Control."""
        answer, body = self.fetch(url, {"Accept-Encoding": accept}, port=port)
        vary = [one.strip().lower() for one in ",".join(answer.headers.get_all("Vary", [])).split(",")]
        control = ", ".join(answer.headers.get_all("Cache-Control", [])) or None
        coding = (answer.getheader("Content-Encoding") or "identity").lower().replace("x-gzip", "gzip")
        return answer.status, coding, len(body), "accept-encoding" in vary, control

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if os.environ.get("ASKING_KEEP"):
            print(f"asking: kept {self.run}", file=sys.stderr)
        else:
            shutil.rmtree(self.run, ignore_errors=True)

    def url(self, path):
        return "/" if path is None else "/" + self.below + self.version + path.removeprefix(self.below)

    def truth(self):
        """For each URL and class all that was answered in three times; a page's bytes may differ from time to time. A path of None is the page."""
        cells = [(path, codings) for path in [*self.paths, None] for codings in CLASSES]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = pool.map(lambda cell: {self.get(self.url(cell[0]), CLASSES[cell[1]]) for _ in range(3)}, cells)
            return dict(zip(cells, answers))

    def log(self):
        """A day of requests in which each URL has about the same part of the traffic."""
        lines, second = [], 0
        for path in [*self.paths, None]:
            length = 30_000 if path is None else (self.root / path).stat().st_size
            lines += [f'"GET {self.url(path)} HTTP/1.1" 200 {length}'] * max(40, min(400, 2_000_000 // (length + 1)))
        random.Random(1).shuffle(lines)
        with open(self.run / "access.log", "w") as log:
            for line in lines:
                hour, rest = divmod(second % 86_400, 3600)
                minute, last = divmod(rest, 60)
                log.write(f'203.0.113.{second % 250} - - [{1 + second // 86_400:02}/Nov/2026:{hour:02}:{minute:02}:{last:02} +0000] {line} "-" "{AGENT}"\n')
                second += 2 * 86_400 // len(lines)
        return self.run / "access.log"

    def said(self):
        """What `weigh site` says of each path and class; None is the page."""
        command = [WEIGH, "site", "--docroot", self.root, "--server-config", self.config, "--log", self.log(), "--json", "--out", self.run / "site/site.toml"]
        # What stands behind another server cannot be made here; the running site is asked.
        command += ["--url", f"http://127.0.0.1:{self.port}/"] if (self.run / "backend.conf").exists() else ["--render"]
        ran = subprocess.run(command, env=self.env, cwd=self.run, capture_output=True, text=True, timeout=900)
        if ran.returncode:
            raise RuntimeError(f"weigh site ended with {ran.returncode}: {ran.stderr.strip()[-300:]}")
        for line in ran.stderr.splitlines():
            print(f"  weigh: {line}", file=sys.stderr)
        said, sampled = {}, set()
        for stratum in json.loads(ran.stdout)["strata"]:
            for sample in stratum["sample"]:
                path = None if stratum["kind"] == "page" else sample["path"]
                sampled.add(path)
                for sent in sample.get("sent", []):
                    answer = (200, sent["coding"], sent["bytes"], sent.get("vary", False), sent.get("cache_control"))
                    said.setdefault((path, tuple(sent["accept"])), answer)
        return said, sampled


def php_fpm():
    for folder in [*os.environ["PATH"].split(":"), "/usr/sbin"]:
        found = sorted(glob.glob(f"{glob.escape(folder)}/php-fpm*"))
        if found:
            return found[-1]
    raise RuntimeError("no PHP-FPM: apt install php-fpm")


def compare(name):
    """Prints a line for the configuration, and each difference; gives whether there is none."""
    with Running(name) as running:
        truth = running.truth()
        refused = {running.url(path) for (path, _), answers in truth.items() if {one[0] for one in answers} != {200}}
        if refused:
            raise RuntimeError(f"the server itself refuses {', '.join(sorted(refused))}")
        said, sampled = running.said()
    equal, differences = 0, []
    for (path, codings), answers in truth.items():
        shown = f"{running.url(path)} for {'+'.join(codings) or 'none'}"
        answer = said.get((path, codings))
        if answer in answers:
            equal += 1
        elif answer is None:
            differences.append(f"{shown}: not asked{'' if path in sampled else ', and not in the sample'}; the server answers {show(answers)}")
        else:
            differences.append(f"{shown}: said {show({answer})}; the server answers {show(answers)}")
    met = equal == len(truth)
    print(f"asking-{name}: {equal} of {len(truth)} answers equal (all) {'ok' if met else 'short'}", flush=True)
    for line in differences[:SHOWN]:
        print(f"  {line}", file=sys.stderr)
    if len(differences) > SHOWN:
        print(f"  and {len(differences) - SHOWN} more; ASKING_SHOWN=200 shows them", file=sys.stderr)
    return met


def show(answers):
    names = ("{}", "{}", "{} B", "Vary {}", "Cache-Control {}")
    return " or ".join(", ".join(text.format(value) for text, value in zip(names, one)) for one in sorted(answers, key=str))


def main():
    every = sorted(folder.name for folder in HERE.iterdir() if folder.is_dir() and any((folder / file).exists() for file in SERVERS))
    names = sys.argv[1:] or every
    unknown = set(names) - set(every)
    if unknown:
        sys.exit(f"asking: no configuration {', '.join(sorted(unknown))}; there are {', '.join(every)}")
    met = []
    for name in names:
        try:
            met.append(compare(name))
        except (RuntimeError, OSError, subprocess.SubprocessError, ValueError) as error:
            print(f"asking-{name}: not measured, {' '.join(str(error).split())} (all) short", flush=True)
            met.append(False)
    sys.exit(not all(met))


if __name__ == "__main__":
    main()
