#!/usr/bin/env python3
"""A crawl of known counts, and what `weigh site` makes of the server's log of it.

    crawl.py visit --url URL --log FILE --bytes framed|all --out DIR [options]     writes DIR/access.log, DIR/truth.json and DIR/plan.json
    crawl.py compare --name NAME --out DIR                                         compares them with DIR/site.json

The log's times are spread evenly over 14 days from a Monday on, so that a month is 30.4375/14 of the crawl.
"""

import argparse
import concurrent.futures
import json
import os
import random
import re
import socket
import sys
import time
from collections import Counter
from datetime import datetime, timedelta, timezone
from html import unescape
from pathlib import Path
from urllib.parse import urljoin, urlsplit

VIEWS = int(os.environ.get("CRAWL_VIEWS", "200"))
PAGES = 10
DAYS = 14
FACTOR = 365.25 / 12 / DAYS
TOLERANCE = 0.005
BROWSERS = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 15_8 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/15.6 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:115.0) Gecko/20100101 Firefox/115.0",
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (Linux; Android 14; SM-S918B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/27.0 Chrome/125.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; rv:11.0) like Gecko",
]
BOTS = [
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
    "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
    "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)",
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    "Feedly/1.0 (+http://www.feedly.com/fetcher.html; 12 subscribers)",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/126.0.0.0 Safari/537.36",
    "Mozilla/5.0 (compatible; Qwantify-prod/1.0; +https://help.qwant.com/bot/)",
    "Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)",
    "curl/8.5.0",
    "python-requests/2.32.3",
    "Go-http-client/1.1",
    "Java/17.0.9",
]
# Links that do something, and what is no page: an HTML file counts as an asset.
ACTS = re.compile(r"[?&](do|action|rev|tab|media|image)=|logout|login|feed|rss|wp-json|xmlrpc|wp-admin|\.html?$|\.(zip|pdf|gz|xml|txt|csv)\b", re.I)
FEEDS = ("application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/xml")
DOWNLOADS = ("application/zip", "application/pdf", "application/gzip", "application/x-gzip", "text/csv", "application/octet-stream")


class Answer:
    """An answer as it came over the wire."""

    def __init__(self, raw):
        head, _, rest = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1])
        self.fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        self.all, self.framed = len(raw), len(rest)
        self.body = rest
        if "chunked" in self.fields.get("transfer-encoding", "").lower():
            self.body = b""
            while True:
                size, _, rest = rest.partition(b"\r\n")
                length = int(size.split(b";")[0], 16)
                if length == 0:
                    break
                self.body, rest = self.body + rest[:length], rest[length + 2 :]
        self.type = self.fields.get("content-type", "").split(";")[0].strip().lower()


def target(url):
    """The path and the query of a URL."""
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


class Site:
    """Asks, and keeps what was asked."""

    def __init__(self, url, classes):
        self.origin = urlsplit(url)
        self.base = url
        self.classes = classes
        self.seen = []

    def ask(self, url, agent=BROWSERS[0], method="GET", fields=(), body=b"", kind="visit", version="1.1", source=None):
        parts = urlsplit(url)
        head = [f"{method} {target(url)} HTTP/{version}", f"Host: {self.origin.netloc}", "Connection: close", f"User-Agent: {agent}", "Accept: */*"]
        fields = dict(fields)
        fields.setdefault("Accept-Encoding", "gzip, deflate")
        if body:
            fields |= {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": len(body)}
        head += [f"{name}: {value}" for name, value in fields.items() if value is not None]
        with socket.create_connection((self.origin.hostname, self.origin.port), 120, source and (source, 0)) as one:
            one.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + body)
            raw = b"".join(iter(lambda: one.recv(1 << 18), b""))
        answer = Answer(raw)
        self.seen.append({
            "kind": kind, "method": method, "path": parts.path, "target": target(url), "status": answer.status, "type": answer.type,
            "all": answer.all, "framed": answer.framed, "body": len(answer.body),
        })
        return answer

    def plain(self, url):
        """The body without a content coding, for its links."""
        answer = self.ask(url, fields={"Accept-Encoding": "identity"})
        return answer, answer.body.decode("utf-8", "replace") if answer.status == 200 else ""

    def own(self, base, link):
        """A URL of this site without its fragment, or nothing."""
        url = urlsplit(urljoin(base, unescape(link).strip()))
        return url._replace(fragment="").geturl() if url.netloc == self.origin.netloc else None


def links(site, url, html):
    """What a page loads, and the pages that it links to."""
    loads, pages = {}, {}
    for tag in re.findall(r"<(?:link|script|img|a)\b[^>]*>", html):
        found = re.search(r"""\b(?:href|src)\s*=\s*["']([^"']+)["']""", tag)
        link = found and site.own(url, found.group(1))
        if not link:
            continue
        rel = re.search(r"""\brel\s*=\s*["']([^"']+)["']""", tag)
        if tag.startswith("<a"):
            if not ACTS.search(link):
                pages[link] = None
        elif not tag.startswith("<link") or (rel and set(rel.group(1).split()) & {"stylesheet", "icon", "manifest", "preload"}):
            loads[link] = None
    for link in re.findall(r"""url\(["']?([^"')]+)["']?\)""", html):
        if not link.startswith(("data:", "#")) and (own := site.own(url, link)):
            loads[own] = None
    return list(loads), list(pages)


def discover(site):
    """Pages that answer 200, each with what it loads."""
    pages, queue, checked = {}, [site.base], {}
    while queue and len(pages) < PAGES:
        url = queue.pop(0)
        if url in pages:
            continue
        answer, html = site.plain(url)
        if answer.status != 200 or answer.type != "text/html":
            continue
        loads, more = links(site, url, html)
        for asset in [*loads]:
            if asset not in checked:
                checked[asset], text = site.plain(asset)
                if checked[asset].type == "text/css":
                    for link in re.findall(r"""url\(["']?([^"')]+)["']?\)""", text):
                        own = None if link.startswith(("data:", "#")) else site.own(asset, link)
                        if own and own not in checked:
                            checked[own] = site.plain(own)[0]
                            # A page does not load all that its style sheets name.
                            if len(loads) < 40:
                                loads.append(own)
        pages[url] = [asset for asset in dict.fromkeys(loads) if checked[asset].status == 200]
        queue += [page for page in more if page not in pages]
    validators = {url: answer.fields for url, answer in checked.items()}
    return pages, validators


def session(site, pages, validators, draw, views):
    """The requests of one visitor: pages with what they load, of which some is in the browser's cache."""
    agent, held, plan = draw.choice(BROWSERS), set(), []
    accept = None if site.classes and draw.random() < 0.1 else "gzip, deflate"
    for _ in range(views):
        page = draw.choice([site.base, *pages])
        plan.append((page, agent, "GET", {"Accept-Encoding": accept}, b"", "visit"))
        for asset in pages[page]:
            chance = draw.random()
            if asset in held or chance < 0.2:
                continue
            held.add(asset)
            fields = {"Accept-Encoding": accept}
            validator = validators[asset]
            if chance < 0.45 and "last-modified" in validator:
                fields["If-Modified-Since"] = validator["last-modified"]
            plan.append((asset, agent, "GET", fields, b"", "visit"))
    return plan


def plan(site, pages, validators, options):
    draw = random.Random(20260101)
    sessions, views = [], 0
    while views < VIEWS:
        count = draw.randint(1, 4)
        sessions.append(session(site, pages, validators, draw, count))
        views += count
    every = [*pages]
    assets = sorted(validators)
    large = sorted(validators, key=lambda url: -int(validators[url].get("content-length", 0)))[:3]
    browser = lambda: draw.choice(BROWSERS)
    resolve = lambda path: urljoin(site.base, path)
    extra = []
    for bot in BOTS:
        extra += [(draw.choice(every), bot, "GET", {}, b"", "bot") for _ in range(4)]
        extra += [(resolve("robots.txt"), bot, "GET", {}, b"", "bot"), (draw.choice(assets), bot, draw.choice(["GET", "HEAD"]), {}, b"", "bot")]
    extra += [(draw.choice(every + assets), browser(), "HEAD", {}, b"", "visit") for _ in range(14)]
    extra += [(resolve(f"no-such-thing-{n}.png"), browser(), "GET", {}, b"", "visit") for n in range(12)]
    extra += [(url, browser(), "GET", {"Range": "bytes=0-999"}, b"", "visit") for url in large for _ in range(4)]
    extra += [(resolve(path), browser(), "GET", {}, b"", "visit") for path in options.redirect for _ in range(8)]
    extra += [(resolve(path), browser(), "GET", {}, b"", "visit") for path in options.feed for _ in range(10)]
    extra += [(resolve(path), browser(), "GET", {}, b"", "visit") for path in options.download for _ in range(9)]
    if options.prefetch:
        extra += [(draw.choice(every), browser(), "GET", {"Sec-Purpose": "prefetch"}, b"", "prefetch") for _ in range(12)]
    for form in options.post:
        path, _, body = form.partition(" ")
        extra += [(resolve(path), browser(), "POST", {}, body.encode(), "visit") for _ in range(6)]
    requests = [one for group in sessions for one in group] + extra
    draw.shuffle(requests)
    return requests


def visit(options):
    site, out, log = Site(options.url, options.classes), Path(options.out), Path(options.log)
    pages, validators = discover(site)
    if not pages:
        sys.exit(f"crawl: {options.url} does not answer with a page")
    settle(log, len(site.seen), options.quiet, site.seen)
    os.truncate(log, 0)
    site.seen.clear()
    requests = plan(site, pages, validators, options)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        # Nothing is in front of a site whose visitors have addresses of their own.
        sources = [f"127.1.{at % 7}.{1 + at % 251}" if options.direct else None for at in range(len(requests))]
        for future in [pool.submit(site.ask, url, *rest[:-1], kind=rest[-1], source=source) for (url, *rest), source in zip(requests, sources)]:
            future.result()
    wanted = sum(1 for one in site.seen if not is_quiet(one, options.quiet))
    lines = settle(log, wanted, options.quiet, site.seen)
    if len(lines) != wanted:
        sys.exit(f"crawl: {wanted} requests, and {len(lines)} lines in {log}")
    out.mkdir(parents=True, exist_ok=True)
    (out / "access.log").write_text("".join(spread(lines)))
    (out / "truth.json").write_text(json.dumps({
        "bytes": options.bytes, "quiet": options.quiet, "kept": options.kept, "logged": wanted, "bots": sum(one["kind"] == "bot" and not is_quiet(one, options.quiet) for one in site.seen),
        "requests": site.seen,
    }))
    asked = [
        {"path": target(url), "agent": agent, "method": method, "fields": fields, "body": body.decode(), "kind": kind}
        for url, agent, method, fields, body, kind in requests
    ]
    (out / "plan.json").write_text(json.dumps(asked))
    statuses = Counter(one["status"] for one in site.seen)
    print(f"crawl: {len(pages)} pages, {len(validators)} assets, {len(lines)} lines; " + ", ".join(f"{n} times {s}" for s, n in sorted(statuses.items())), file=sys.stderr)


def is_quiet(one, quiet):
    return bool(quiet) and re.search(quiet, one["path"]) is not None


def settle(log, wanted, quiet, seen):
    """The log's lines, as soon as there are enough of them and no more come."""
    lines = []
    for _ in range(100):
        before, lines = len(lines), log.read_text(errors="replace").splitlines(keepends=True)
        if len(lines) >= min(wanted, sum(1 for one in seen if not is_quiet(one, quiet))) and before == len(lines):
            break
        time.sleep(0.1)
    return lines


def spread(lines):
    """The lines with times spread over the days."""
    now = datetime.now(timezone.utc).replace(hour=0, minute=0, second=0, microsecond=0)
    start = now - timedelta(days=DAYS + 1 + (now - timedelta(days=DAYS + 1)).weekday())
    step = (timedelta(days=DAYS) - timedelta(seconds=1)) / (len(lines) - 1)
    for at, line in enumerate(lines):
        moment = start + step * at
        line = re.sub(r"\[\d\d/\w{3}/\d{4}:[\d:]{8} [+-]\d{4}\]", moment.strftime("[%d/%b/%Y:%H:%M:%S +0000]"), line)
        yield re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d", moment.strftime("%Y-%m-%dT%H:%M:%S+00:00"), line)


def content(one):
    """The kind of content that an answer with 200 is. None: a feed, and a page that answers for a missing image, which nobody views. A page that the
    server sends as a file is an asset."""
    if one["type"] == "text/html":
        return "asset" if one.get("is_kept") else None if one["path"].endswith(".png") else "page"
    # Lists of media types lack fonts now and then.
    if one["type"] in DOWNLOADS and not one["path"].endswith((".ttf", ".otf", ".woff", ".woff2")):
        return "download"
    return None if one["type"] in FEEDS else "asset"


class Lines:
    """One line a target."""

    def __init__(self, name):
        self.name, self.short = name, 0

    def line(self, what, measured, target, met):
        print(f"{self.name}-{what}: {measured} ({target}) {'ok' if met else 'short'}", flush=True)
        self.short += not met

    def equal(self, what, measured, truth, free=0):
        """Figures by kind, per month, with those of the crawl; feeds may be in any kind, all of them, or in none."""
        parts, met = [], True
        for kind in truth:
            said, true = measured.get(kind, 0) / FACTOR, truth[kind]
            allowed = max(TOLERANCE * true, 0.51)
            met &= min(abs(said - true), abs(said - true - free)) <= allowed
            parts.append(f"{kind} {said:,.0f} of {true:,}")
        self.line(what, "; ".join(parts), "equal within 0.5%", met)


def value(figure):
    return figure["value"] if isinstance(figure, dict) else figure or 0


def compare(options):
    out, lines = Path(options.out), Lines(options.name)
    truth, site = json.loads((out / "truth.json").read_text()), json.loads((out / "site.json").read_text())
    for one in truth["requests"]:
        one["is_kept"] = bool(truth["kept"]) and re.search(truth["kept"], one["target"]) is not None
    visits = [one for one in truth["requests"] if one["kind"] != "bot" and one["method"] == "GET"]
    logged = lambda one: not is_quiet(one, truth["quiet"])
    every = [one for one in visits if one["status"] == 200 and content(one)]
    whole = [one for one in every if logged(one)]
    kinds = [kind for kind in ("asset", "page", "download") if any(content(one) == kind for one in every)]
    strata = {kind: [stratum for stratum in site["strata"] if stratum["kind"] == kind] for kind in kinds}
    total = lambda kind, field: sum(value(stratum.get(field)) for stratum in strata[kind])

    views = sum(1 for one in whole if (content(one) == "page" or one["is_kept"]) and one["kind"] == "visit")
    lines.equal("views", {"page views": value(site["visitors"].get("page_views"))}, {"page views": views})
    counted = [kind for kind in kinds if any(content(one) == kind for one in whole)]
    of_kind = lambda kind: [one for one in whole if content(one) == kind]
    feeds = [one for one in visits if one["status"] == 200 and one["type"] in FEEDS]
    lines.equal("requests", {kind: total(kind, "requests") for kind in counted}, {kind: len(of_kind(kind)) for kind in counted}, len(feeds))
    length = lambda one: one[truth["bytes"]]
    lines.equal("bytes", {kind: total(kind, "sent_bytes") for kind in counted}, {kind: sum(map(length, of_kind(kind))) for kind in counted}, sum(map(length, feeds)))
    of_files = [one for one in visits if logged(one) and content(one) in ("asset", None)]
    both = {str(status): sum(one["status"] == status for one in of_files) for status in (304, 206)}
    if "asset" in counted:
        measured = {name: sum(total(kind, field) for kind in kinds) for name, field in (("304", "not_modified"), ("206", "ranges"))}
        lines.equal("partial", measured, both)
    for kind in set(kinds) - set(counted):
        sources = {stratum["requests"]["from"] for stratum in strata[kind] if isinstance(stratum["requests"], dict)}
        lines.line(f"unlogged-{kind}", f"requests are {', '.join(sorted(sources)) or 'none'}: {total(kind, 'requests') / FACTOR:,.0f}", "assumed, and not zero", sources == {"assumed"} and total(kind, "requests") > 0)
    before(lines, site, strata, counted)
    sys.exit(lines.short > 0)


def sent_to(sample, codings):
    """Bytes of the answer to clients that accept these codings; nothing where it was not asked."""
    return next((sent["bytes"] for sent in sample.get("sent", []) if set(sent["accept"]) == codings), None)


def before(lines, site, strata, kinds):
    """What the sample's answers of today add up to, compared with the counted bytes of the same strata; and what they cover."""
    # Over plain HTTP browsers offer gzip at most.
    classes = [(set(one["codings"]) if site["visitors"]["tls"] else set(one["codings"]) & {"gzip"}, one["share"]) for one in site["visitors"]["accept"]]
    parts, covers, met, covered_enough = [], [], True, True
    for kind in kinds:
        asked = [stratum for stratum in strata[kind] if stratum["sample"] and all(sent_to(sample, codings) is not None for sample in stratum["sample"] for codings, _ in classes)]
        computed = sum(
            value(stratum["requests"]) * sample["share"] * share * sent_to(sample, codings)
            for stratum in asked for sample in stratum["sample"] for codings, share in classes
        )
        counted = sum(value(stratum.get("sent_bytes")) for stratum in asked)
        ratio = computed / counted if counted else 0
        met &= abs(ratio - 1) <= 0.05
        parts.append(f"{kind} {ratio:.3f}" if asked else f"{kind} not asked")
        for field in ("requests", "sent_bytes"):
            every = sum(value(stratum.get(field)) for stratum in strata[kind])
            share = sum(value(stratum.get(field)) for stratum in asked) / every if every else 0
            covered_enough &= share >= 0.95
            covers.append(f"{kind} {share:.0%} of the {field.replace('sent_', '')}")
    lines.line("before", "computed ÷ counted: " + ", ".join(parts), "1 within 5%", met)
    lines.line("coverage", ", ".join(covers), "at least 95%", covered_enough)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    one = verbs.add_parser("visit")
    one.set_defaults(run=visit)
    one.add_argument("--url", required=True)
    one.add_argument("--log", required=True)
    one.add_argument("--bytes", choices=["framed", "all", "body"], required=True, help="what the log counts: a body with its chunks' frames, all, or the body")
    one.add_argument("--out", required=True)
    one.add_argument("--quiet", help="paths that the log leaves out, an expression")
    one.add_argument("--kept", help="pages that the server sends as files, an expression for paths with their queries")
    one.add_argument("--classes", action="store_true", help="the log has Accept-Encoding: some visitors send none")
    one.add_argument("--direct", action="store_true", help="visitors have addresses of their own; else all come from one, as through a proxy")
    one.add_argument("--prefetch", action="store_true", help="the log has Sec-Purpose: some requests are prefetches")
    for flag in ("redirect", "feed", "download", "post"):
        one.add_argument(f"--{flag}", action="append", default=[])
    two = verbs.add_parser("compare")
    two.set_defaults(run=compare)
    two.add_argument("--name", required=True)
    two.add_argument("--out", required=True)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
