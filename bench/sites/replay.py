#!/usr/bin/env python3
"""The requests of a crawl, asked again of a server without and with a policy, and what became of the answers.

    replay.py ask --dir DIR --url URL --side before|after                writes DIR/SIDE.json
    replay.py compare --dir DIR --name NAME                              compares both with the predictions of DIR/advice/policy.toml

DIR holds what `crawl.py visit`, `weigh site` and `weigh advise` wrote there. Each request is asked once as each class of clients, and counted
with the class's share of the log.
"""

import argparse
import concurrent.futures
import fnmatch
import hashlib
import json
import os
import re
import sys
import tomllib
from collections import Counter, defaultdict
from pathlib import Path
from urllib.parse import quote, urlsplit

sys.path.insert(1, str(Path(__file__).resolve().parent.parent))
from crawl import FEEDS, Lines, Site, content  # noqa: E402
from decoding import decoded  # noqa: E402

POINTS = 0.05
LARGER = 1.02
# What a token in a page may add, and what an encoder puts around a few bytes, as the trial of the advice says.
SLACK = 8
FRAME = 32
KINDS = ("asset", "page", "download", "other")
# Files that configurations refuse, and the names of their variants.
GUARDED = ("composer.*", "*.md", ".ht*", "*.dist", "*.twig", "*.sql", "*.inc", "*.conf", "README*", "*.yml", "*.dat", "*.lock", "VERSION")
MOST_GUARDED = 40
VARIANTS = ("", ".gz", ".br", ".zst")
MOST_PROBED = 24


def classes(site):
    """What clients accept, with the share of each; over plain HTTP, with nothing in front, browsers offer gzip at most. All are compared."""
    shares, is_plain = Counter(), not site["visitors"]["tls"] and "front" not in site["sources"]
    for one in site["visitors"]["accept"]:
        codings = set(one["codings"]) & {"gzip"} if is_plain else set(one["codings"])
        shares[", ".join(sorted(codings))] += one["share"]
    return dict(shares) | {accept: shares[accept] for accept in ("br, gzip, zstd", "gzip", "")}


def key(one):
    fields = {name: text for name, text in one["fields"].items() if name != "Accept-Encoding"}
    return json.dumps([one["path"], one["method"], fields, one["body"]])


def shown(answer, body=True):
    """What is compared of an answer."""
    coding = answer.fields.get("content-encoding", "")
    plain = decoded(answer.body, coding) if body and answer.status != 206 else None
    digest = None if plain is None else hashlib.sha1(plain).hexdigest()
    return {"status": answer.status, "type": answer.type, "bytes": len(answer.body), "coding": coding, "sha1": digest, "fields": answer.fields}


def guarded(site):
    """URLs of files below the folders that are served, of the kinds that configurations refuse."""
    folders = [("", site["sources"]["docroot"])] + [(alias["url"], alias["folder"]) for alias in site["sources"].get("aliases", [])]
    for url, folder in folders:
        for place, _, files in sorted(os.walk(folder)):
            for name in sorted(files):
                if any(fnmatch.fnmatch(name, pattern) for pattern in GUARDED):
                    yield quote(url.rstrip("/") + "/" + os.path.relpath(os.path.join(place, name), folder))


def probes(answers, requests):
    """Of each type the smallest and the largest that answered 200."""
    kinds = defaultdict(list)
    for name, one in requests.items():
        answer = answers[name]["gzip"] if "gzip" in answers[name] else next(iter(answers[name].values()))
        if one["method"] == "GET" and answer["status"] == 200 and "Range" not in one["fields"]:
            kinds[answer["type"]].append((answer["bytes"], one["path"]))
    for kind in sorted(kinds):
        yield from {path for _, path in (min(kinds[kind]), max(kinds[kind]))}


def ask(options):
    folder = Path(options.dir)
    site = tomllib.loads((folder / "site.toml").read_text())
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(options.url))
    plan = json.loads((folder / "plan.json").read_text())
    requests = {key(one): one for one in plan}
    asker, every = Site(options.url, False), classes(site)

    def one(path, accept, agent=None, method="GET", fields=(), body="", version="1.1"):
        fields = dict(fields) | {"Accept-Encoding": accept or None}
        more = {"agent": agent} if agent else {}
        return shown(asker.ask(origin + path, method=method, fields=fields, body=body.encode(), version=version, **more), method != "HEAD")

    def again(request, accept):
        """The request of the crawl; one that has the answer already has it from this side, for an application dates what it makes anew."""
        fields = dict(request["fields"])
        if "If-Modified-Since" in fields:
            fields["If-Modified-Since"] = one(request["path"], accept)["fields"].get("last-modified", fields["If-Modified-Since"])
        return one(request["path"], accept, request["agent"], request["method"], fields, request["body"])

    # A copy has cold caches, and some applications fill them wrongly for several clients at once.
    for request in requests.values():
        if request["method"] == "GET":
            again(request, "")
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        jobs = {
            (name, accept): pool.submit(again, request, accept)
            for name, request in requests.items() for accept in every
        }
        answers = defaultdict(dict)
        for (name, accept), job in jobs.items():
            answers[name][accept] = job.result()
    before = json.loads((folder / "before.json").read_text()) if options.side == "after" else None
    # The same on both sides, whatever the answers are now.
    probed = before["probed"] if before else list(probes(answers, requests))[:MOST_PROBED]
    more = {}
    for path in probed:
        for accept in every:
            first = one(path, accept)
            forms = {"HEAD": {"method": "HEAD"}, "range": {"fields": {"Range": "bytes=0-99"}}, "HTTP/1.0": {"version": "1.0"}, "Via": {"fields": {"Via": "1.1 cache"}}}
            if "etag" in first["fields"]:
                forms["If-None-Match"] = {"fields": {"If-None-Match": first["fields"]["etag"]}}
            for form, how in forms.items():
                more[f"{path} {form} [{accept}]"] = one(path, accept, **how)
    if before:
        refused = before["refused"]
    else:
        refused, tried = [], 0
        for path in guarded(site):
            tried += 1
            if tried > 10 * MOST_GUARDED or len(refused) == MOST_GUARDED:
                break
            if one(path, "")["status"] >= 400:
                refused.append(path)
    guards = {f"{path}{suffix} [{accept}]": one(path + suffix, accept)["status"] for path in refused for suffix in VARIANTS for accept in every}
    (folder / f"{options.side}.json").write_text(json.dumps({"answers": answers, "probed": probed, "probes": more, "refused": refused, "guards": guards}))
    print(f"replay: {options.side}: {len(requests)} requests as {len(every)} classes, {len(more)} probes, {len(refused)} refused files", file=sys.stderr)


def worse(before, after, is_file):
    """What of an answer is worse than it was; nothing where it is not."""
    if before["status"] != after["status"]:
        better = {(200, 206), (200, 304)}
        # Of what is compressed while it is sent there are no ranges: the decision to compress says so.
        is_coded = (before["status"], after["status"]) == (206, 200) and after["coding"]
        return None if is_coded or (before["status"], after["status"]) in better else f"status {before['status']} became {after['status']}"
    old, new = before["fields"], after["fields"]
    for name in ("etag", "last-modified", "cache-control", "expires", "content-type", "accept-ranges"):
        if name == "accept-ranges" and before["coding"] != after["coding"]:
            continue
        if name in old and name not in new:
            return f"{name} is lost: {old[name]}"
    for name in ("content-type", "cache-control"):
        if name in old and old[name].lower().replace(" ", "") != new[name].lower().replace(" ", ""):
            return f"{name}: {old[name]} became {new[name]}"
    members = lambda fields: {one.strip().lower() for one in fields.get("vary", "").split(",")} - {""}
    if not members(old) <= members(new):
        return f"Vary: {old['vary']} became {new.get('vary', 'none')}"
    slack = FRAME if after["coding"] and not before["coding"] else SLACK
    if after["bytes"] > before["bytes"] * LARGER + slack:
        return f"{before['bytes']} B {before['coding'] or 'identity'} became {after['bytes']} B {after['coding'] or 'identity'}"
    if is_file and before["status"] == 200 and before["sha1"] and before["sha1"] != after["sha1"]:
        return "the content is another one"
    return None


def compare(options):
    folder, lines = Path(options.dir), Lines(options.name)
    site = tomllib.loads((folder / "site.toml").read_text())
    kept = json.loads((folder / "truth.json").read_text())["kept"]
    policy = tomllib.loads((folder / "advice/policy.toml").read_text())
    plan, every = json.loads((folder / "plan.json").read_text()), classes(site)
    before, after = (json.loads((folder / f"{side}.json").read_text()) for side in ("before", "after"))
    sums = {kind: [0, 0] for kind in KINDS}
    for one in plan:
        if one["kind"] == "bot" or one["method"] != "GET" or "Range" in one["fields"]:
            continue
        for accept, share in every.items():
            sides = [side["answers"][key(one)][accept] for side in (before, after)]
            kind = content({"type": sides[0]["type"], "path": one["path"].split("?")[0], "is_kept": kept and re.search(kept, one["path"])}) if sides[0]["status"] == 200 else None
            # A feed is made by PHP: the policy has it among the pages.
            is_feed = sides[0]["status"] == 200 and sides[0]["type"] in FEEDS
            kind = kind or ("page" if is_feed else "other")
            for at, side in enumerate(sides):
                sums[kind][at] += share * side["bytes"]
    predicted = {decision["kind"]: decision["change"]["gb_out"] for decision in policy["decisions"]}
    for kind, (old, new) in sums.items():
        if not old:
            continue
        made, amount = (new - old) / old, predicted.get(kind)
        measured = f"{old:,.0f} B became {new:,.0f} B: {made:+.1%}"
        if not amount or not amount["before"]:
            lines.line(f"replay-{kind}", f"{measured}, nothing predicted", "not larger", made <= POINTS)
            continue
        said = (amount["after"] - amount["before"]) / amount["before"]
        lines.line(f"replay-{kind}", f"{measured}, predicted {said:+.1%}", f"within {POINTS * 100:.0f} points", abs(made - said) <= POINTS)
    found, compared = [], 0
    for name, answers in before["answers"].items():
        path, method, *_ = json.loads(name)
        for accept, answer in answers.items():
            compared += 1
            # What a script makes may differ from time to time.
            is_file = answer["type"] not in ("text/html", *FEEDS) and "last-modified" in answer["fields"] and ".php" not in path
            if wrong := worse(answer, after["answers"][name][accept], is_file):
                found.append(f"{method} {path} [{accept}]: {wrong}")
    for name, answer in before["probes"].items():
        compared += 1
        if name not in after["probes"]:
            found.append(f"{name}: its ETag is lost")
        elif wrong := worse(answer, after["probes"][name], False):
            found.append(f"{name}: {wrong}")
    for name, status in before["guards"].items():
        compared += 1
        if status >= 400 > after["guards"][name]:
            found.append(f"{name}: {status} became {after['guards'][name]}, and it is refused without a coding")
    kinds = Counter(one.rsplit("]: ", 1)[-1].split(":")[0][:24] for one in found)
    (folder / "worse.txt").write_text("".join(f"{one}\n" for one in found))
    for one in found[:12]:
        print(f"  {one}", file=sys.stderr)
    if found:
        print(f"  {dict(kinds.most_common(8))}; all in {folder / 'worse.txt'}", file=sys.stderr)
    lines.line("replay-worse", f"{len(found)} of {compared:,} compared responses are worse", "none", not found)
    sys.exit(lines.short > 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    one = verbs.add_parser("ask")
    one.set_defaults(run=ask)
    one.add_argument("--url", required=True)
    one.add_argument("--side", choices=["before", "after"], required=True)
    two = verbs.add_parser("compare")
    two.set_defaults(run=compare)
    two.add_argument("--name", required=True)
    for verb in (one, two):
        verb.add_argument("--dir", required=True)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
