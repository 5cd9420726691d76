#!/usr/bin/env python3
"""Whether what `weigh advise` writes for a server makes any answer of a site worse.

Eight configurations, those beside this file and some of `bench/asking`, are started by hand on loopback and asked by an independent client. Then the
files of the advice are included by hand where they say, `weigh pack` makes the precompressed files, and the same is asked again. Answers count where a
file was written and included.

    WEIGH=target/release/weigh bench/harm/harm.py [NAME…]     default: all configurations
"""

import concurrent.futures
import hashlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "asking")]
import asking  # noqa: E402
from decoding import decoded  # noqa: E402

FARM = {
    "nginx-h5bp": asking.HERE, "nginx-debian": HERE, "nginx-wordpress": HERE, "nginx-drupal": HERE,
    "apache-wp-rocket": asking.HERE, "apache-phpmyadmin": HERE, "caddy-encode": HERE, "lighttpd-deflate": asking.HERE,
}
WANTED = 20_000
SHOWN = int(os.environ.get("HARM_SHOWN", "12"))
BUDGET = os.environ.get("HARM_BUDGET", "120s")
ACCEPTS = ["gzip, deflate, br, zstd", "gzip, deflate, br", "gzip, deflate", "gzip", "br", "zstd", "br;q=0, gzip;q=0.5", "identity", None, "deflate", "*", "gzip;q=0", "gzip;q=0.5, br;q=0.9", "br, gzip",
           "zstd, gzip"]
FORMS = ["GET", "HTTP/1.0", "Via", "HEAD", "Range", "If-None-Match", "If-Modified-Since"]
FILES = ["css/app.css", "css/tiny.css", "js/app.js", "data/tiny.json", "data/list.json", "feed.xml", "img/logo.svg", "img/photo.jpg"]
# Those that visitors ask for by its log, few, so that all of them are measured in the budget.
VISITED = ["css/app.css", "data/list.json"]
# Files that some of the configurations refuse.
PRIVATE = [".env", ".git/config", "composer.json", "package.json", "backup.sql", "config.yml", "vendor/composer/installed.json"]
PAGE = """<?php
[$types, $t, $n] = [['html' => 'text/html; charset=utf-8', 'json' => 'application/json', 'xml' => 'text/xml', 'rss' => 'application/rss+xml; charset=UTF-8'], $_GET['t'], (int) $_GET['n']];
$body = '';
for ($i = 0; strlen($body) < $n; $i++) $body .= "<item n=\\"$i\\">" . substr(md5((string) $i), 0, 6) . " of a page</item>\\n";
$body = substr($body, 0, $n);
header('Content-Type: ' . $types[$t]);
header('Cache-Control: private, no-cache');
header('ETag: "' . md5($body) . '"');
header('Content-Length: ' . strlen($body));
echo $body;
"""
# About the connection, or compared by themselves.
OWN = {"date", "server", "connection", "keep-alive", "content-length", "transfer-encoding", "content-encoding", "content-range", "vary", "accept-ranges"}
# Only whether they are there counts.
PRESENT = {"etag", "last-modified", "expires", "set-cookie", "age", "x-request-id"}


class Farm(asking.Running):
    def __init__(self, name):
        super().__init__(name, FARM[name])
        for path in set(self.paths) - set(FILES):
            for file in self.root.glob(f"{path}*"):
                file.unlink()
        self.paths = VISITED
        for path in PRIVATE:
            asking.write(self.root / path, (f"# {path}\n" + "secret = what nobody is to be sent\n" * 60).encode())
        asking.write(self.root / "kind.php", PAGE.encode())
        pages = [f"/kind.php?t={kind}&n={n}" for kind in ("html", "json", "xml", "rss") for n in (300, 512, 1000, 2048, 4096, 8192)]
        self.urls = [*(self.url(path) for path in FILES), "/", *pages, "/none.css", "/none.html", "/none.json"]
        self.private = [f"/{path}{ending}" for path in PRIVATE for ending in ("", ".gz", ".br", ".zst")]

    def log(self):
        """Pages are visited on nginx alone, which can tell them from assets: elsewhere the budget is for assets."""
        log = super().log()
        if self.main != "nginx.conf":
            log.write_text("".join(line for line in log.read_text().splitlines(keepends=True) if '"GET / ' not in line))
        return log

    def host_name(self):
        site = self.run / "site.conf"
        return re.search(r"[a-z0-9-]+(\.[a-z0-9-]+)*\.example\b", (site if site.exists() else self.config).read_text().replace("\\.", ".")).group()

    def ask(self, cell, etag=None, modified=None):
        url, accept, form = cell
        fields = {"Accept-Encoding": accept}
        fields |= {"Via": {"Via": "1.1 cdn"}, "Range": {"Range": "bytes=0-99"}}.get(form, {})
        fields |= {"If-None-Match": {form: etag}, "If-Modified-Since": {form: modified}}.get(form, {})
        answer, body = self.fetch(url, fields, "HEAD" if form == "HEAD" else "GET", "1.0" if form == "HTTP/1.0" else None)
        head = {}
        for field, value in answer.getheaders():
            head[field.lower()] = f"{head[field.lower()]}, {value}" if field.lower() in head else value
        coding = head.get("content-encoding", "identity").lower().replace("x-gzip", "gzip")
        # A range of encoded content is no whole content.
        content = None if form in ("HEAD", "Range") and coding != "identity" else decoded(body, coding)
        digest = None if content is None or form == "HEAD" else hashlib.sha256(content).digest()
        return {"status": answer.status, "coding": coding, "bytes": len(body), "content": digest, "head": head}

    def asked(self, pool):
        """All answers by URL, Accept-Encoding and form; conditional requests have the validators of their own side."""
        plain = [(url, accept, "GET") for url in [*self.urls, *self.private] for accept in ACCEPTS]
        done = dict(zip(plain, pool.map(self.ask, plain)))
        again = dict(zip(plain, pool.map(self.ask, plain)))
        rest = [(url, accept, form) for url in self.urls for accept in ACCEPTS for form in FORMS[1:]]

        def conditional(cell):
            head = done[(cell[0], cell[1], "GET")]["head"]
            validator = {"If-None-Match": "etag", "If-Modified-Since": "last-modified"}.get(cell[2])
            if validator and validator not in head:
                return None
            return self.ask(cell, head.get("etag"), head.get("last-modified"))

        done |= dict(zip(rest, pool.map(conditional, rest)))
        # What differs from time to time is not compared.
        varying = {(cell[0], field) for cell, one in again.items() for field in one["head"] if one["head"][field] != done[cell]["head"].get(field)}
        return done, varying

    def advise(self):
        """The folder of the advice."""
        self.said()
        # As most sites are visited; the copy here has no certificate.
        site = self.run / "site/site.toml"
        site.write_text(re.sub(r"^tls = false", "tls = true", site.read_text(), flags=re.M))
        command = [asking.WEIGH, "advise", self.run / "site/site.toml", "--budget", BUDGET, "--out", self.run / "advice"]
        ran = subprocess.run(command, env=self.env, cwd=self.run, capture_output=True, text=True, timeout=900)
        if ran.returncode:
            raise RuntimeError(f"weigh advise ended with {ran.returncode}: {ran.stderr.strip()[-400:]}")
        return self.run / "advice"

    def install(self, advice):
        """Includes the emitted files by hand; gives their names."""
        server = {"nginx.conf": "nginx", "apache2.conf": "apache", "Caddyfile": "caddy", "lighttpd.conf": "lighttpd"}[self.main]
        files = sorted((advice / "config" / server).glob("*")) if (advice / "config" / server).is_dir() else []
        files.sort(key=lambda file: file.name.startswith("revalidation"))
        policy = advice / "policy.toml"
        decisions = [one for one in tomllib.loads(policy.read_text())["decisions"] if not one["keep"]]
        if any(rule["by"] == "beforehand" for one in decisions for rule in one.get("rules", [])):
            every = ["--every"] if any("--every" in file.read_text() for file in files) else []
            command = [asking.WEIGH, "pack", self.root, "--policy", policy, "--server-config", self.config, *every]
            ran = subprocess.run(command, env=self.env, cwd=self.run, capture_output=True, text=True, timeout=600)
            if ran.returncode:
                raise RuntimeError(f"weigh pack ended with {ran.returncode}: {ran.stderr.strip()[-300:]}")
        first = [line.split("First: ", 1)[1] for file in files for line in file.read_text().splitlines() if line.startswith("# First: ")]
        for step in sorted(set(first)):
            self.remove(step)
        for file in files:
            getattr(self, f"install_{server}")(file, first)
        return [file.name for file in files]

    def remove(self, step):
        """Takes a directive out of the configuration, where a step says it: `remove FILE:LINE: DIRECTIVE`. Lines keep their numbers."""
        found = re.fullmatch(r"remove (\S+):(\d+): (.*)", step)
        if not found:
            return
        file, line, words = Path(found.group(1)), int(found.group(2)), found.group(3).rstrip(";").split()
        lines = file.read_text().splitlines(keepends=True)
        rest = "".join(lines[line - 1:])
        gone = re.search(r"\s+".join(map(re.escape, words)) + r"\s*;", rest)
        if not gone or "\n" in rest[:gone.start()]:
            raise RuntimeError(f"{file.name} has no such directive: {step}")
        rest = rest[:gone.start()] + "\n" * gone.group().count("\n") + rest[gone.end():]
        file.write_text("".join(lines[:line - 1]) + rest)

    def edit(self, file, pattern, replacement):
        text, count = re.subn(pattern, lambda _: replacement, file.read_text(), count=1, flags=re.M)
        if not count:
            raise RuntimeError(f"{file.name} has no place for it: {pattern}")
        file.write_text(text)

    def install_nginx(self, file, first):
        site = self.run / "site.conf" if (self.run / "site.conf").exists() else self.config
        for there in (Path("/usr/lib/nginx") / path for step in first for path in re.findall(r"load_module (modules/\S+);", step)):
            if there.name not in self.config.read_text():
                self.config.write_text(f"load_module {there};\n{self.config.read_text()}")
        body = site.read_text()
        place = r"^(\s*)(fastcgi_pass [^;]*;)" if file.name == "pages.conf" else r"^(\s*)(server_name [^;]*;)"
        found = re.search(place, body, re.M)
        self.edit(site, place, f"{found.group(0)}\n{found.group(1)}include {file};")

    def install_apache(self, file, first):
        loaded = (self.run / "apache-private.conf").read_text()
        for module in (name for step in first if step.startswith("a2enmod ") for name in step.split()[1:]):
            if f"LoadModule {module}_module" not in loaded + self.config.read_text():
                self.config.write_text(f"LoadModule {module}_module /usr/lib/apache2/modules/mod_{module}.so\n{self.config.read_text()}")
        self.edit(self.config, r"^</VirtualHost>", f"Include {file}\n</VirtualHost>")

    def install_caddy(self, file, _):
        inside = {"files.caddy": "file_server", "php.caddy": f"php_fastcgi unix/{self.run}/php.sock"}.get(file.name)
        if inside:
            self.edit(self.config, rf"^(\s*){re.escape(inside)}$", f"    {inside} {{\n        import {file}\n    }}")
        else:
            own = re.search(r"^\s*encode .*$", self.config.read_text(), re.M).group(0)
            self.edit(self.config, r"^\s*encode .*$", f"{own}\n    import {file}")

    def install_lighttpd(self, file, first):
        enabled = [name for step in first if step.startswith("lighttpd-enable-mod ") for name in step.split()[1:]]
        needed = re.findall(r"\bmod_\w+", "".join(re.findall(r"^# It needs .*$", file.read_text(), re.M)))
        for name in [*needed, *(f"mod_{name}" for name in enabled)]:
            if f'"{name}"' not in self.config.read_text():
                self.config.write_text(self.config.read_text() + f'\nserver.modules += ( "{name}" )\n')
        self.config.write_text(self.config.read_text() + f'\ninclude "{file}"\n')

    def again(self):
        """Ends the server and starts it with what the configuration says now."""
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            process.wait(10)
        self.processes = []
        self.start()


def tokens(head, field):
    return {one.strip().lower() for one in head.get(field, "").split(",")} - {""}


def worse(cell, before, after, known):
    """The first thing that is worse, or nothing."""
    url, accept, form = cell
    private, open_files, varying, coded, grows = known
    refused = re.sub(r"\.(gz|br|zst)$", "", url) not in open_files
    gained = before["coding"] == "identity" != after["coding"]
    if url in private and not refused:
        return None
    if url in private:
        return f"status {before['status']} → {after['status']}" if before["status"] >= 400 > after["status"] else None
    if before["status"] != after["status"]:
        fine = (form.startswith("If-") and (before["status"], after["status"]) == (200, 304)) or (form == "Range" and (gained or after["status"] == 206))
        return None if fine else f"status {before['status']} → {after['status']}"
    asked = {one.split(";")[0].strip() for one in (accept or "").split(",") if not re.search(r";\s*q=0(?![.\d])", one)} | {"identity"}
    if before["coding"] in asked and after["coding"] not in asked:
        return f"content coding {after['coding']}, which is not accepted"
    is_comparable = form != "Range" or before["coding"] == after["coding"] == "identity"
    if is_comparable and before["content"] and before["content"] != after["content"] and url not in {one for one, field in varying if field == "etag"}:
        return "other content"
    if form != "Range" and after["bytes"] > before["bytes"] * 1.02 and not (grows and after["coding"] != "identity"):
        return f"body {before['coding']} {before['bytes']} B → {after['coding']} {after['bytes']} B"
    if form != "Range" and gained and after["status"] == 200 and not tokens(after["head"], "vary") & {"accept-encoding", "*"}:
        return "encoded without Vary"
    lost = tokens(before["head"], "vary") - tokens(after["head"], "vary") - (set() if url in coded else {"accept-encoding"})
    if lost:
        return f"Vary lost {', '.join(sorted(lost))}"
    if "accept-ranges" in before["head"] and "accept-ranges" not in after["head"] and not gained:
        return "Accept-Ranges lost"
    for field, value in before["head"].items():
        if field in OWN or (url, field) in varying:
            continue
        now = after["head"].get(field)
        if now is None or (field not in PRESENT and now != value):
            return f"{field}: {value} → {now}"
    return None


def grown(advice):
    """Whether the policy says that traffic of pages or assets grows."""
    decisions = tomllib.loads((advice / "policy.toml").read_text())["decisions"]
    amounts = [one["change"]["gb_out"] for one in decisions if not one["keep"]]
    return any(amount["after"] > amount["before"] * 1.02 for amount in amounts)


def measure(name):
    """Prints a line for the configuration; gives how many answers were compared with files included, none without, and how many are worse."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool, Farm(name) as farm:
        before, varying = farm.asked(pool)
        advice = farm.advise()
        trial = tomllib.loads((advice / "policy.toml").read_text()).get("trial", {})
        written = farm.install(advice)
        farm.again()
        after, _ = farm.asked(pool)
        coded = {cell[0] for cell, one in after.items() if one and one["coding"] != "identity"}
        # What everybody may have today, variants may be made of.
        open_files = {url for url in farm.private if before[(url, None, "GET")]["status"] < 400}
        known = (set(farm.private), open_files, varying, coded, grown(advice))
        compared, found = 0, []
        for cell, one in before.items():
            if one is None:
                continue
            compared += 1
            wrong = worse(cell, one, after[cell], known) if after[cell] else None
            if wrong:
                found.append(f"{cell[0]} ({cell[2]}, {cell[1] or 'no Accept-Encoding'}): {wrong}")
    withheld = [one["file"].split("/")[-1] for one in trial.get("withheld", [])]
    note = f", written: {', '.join(written) or 'none'}" + (f", not written: {', '.join(withheld)}" if withheld else "") + (", untried" if "untried" in trial else "")
    print(f"harm-{name}: {len(found)} of {compared} answers worse (0) {'ok' if not found else 'short'}{note}", flush=True)
    for line in found[:SHOWN]:
        print(f"  {line}", file=sys.stderr)
    for one in trial.get("withheld", []):
        for each in one["worse"][:3]:
            print(f"  not written, {one['file']}: {each['url']} ({each['request']}): {each['what']} {each['before']} → {each['after']}", file=sys.stderr)
    if "untried" in trial:
        print(f"  untried: {trial['untried']}", file=sys.stderr)
    return compared if written else 0, len(found)


def main():
    names = sys.argv[1:] or list(FARM)
    unknown = set(names) - set(FARM)
    if unknown:
        sys.exit(f"harm: no configuration {', '.join(sorted(unknown))}; there are {', '.join(FARM)}")
    total, bad, failed = 0, 0, False
    for name in names:
        try:
            compared, found = measure(name)
            total, bad = total + compared, bad + found
        except (RuntimeError, OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
            print(f"harm-{name}: not measured, {' '.join(str(error).split())} (0) short", flush=True)
            failed = True
    # Some of the configurations alone have fewer answers.
    enough = total >= (WANTED if len(names) == len(FARM) else 1)
    print(f"harm: {bad} of {total} answers worse (0 of at least {WANTED}) {'ok' if not bad and enough and not failed else 'short'}", flush=True)
    sys.exit(bool(bad or failed or not enough))


if __name__ == "__main__":
    main()
