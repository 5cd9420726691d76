#!/usr/bin/env python3
"""A black box: the program reports copies of a stored run whose times were drawn, so that the truth is known.

All configurations of a comparison get the record of one of them, so that they are equal but for the noise, which is drawn here and not by the code under test.
With a factor, the second configuration of each comparison costs that much more. Counted are reports that mark a difference of equal ones or say one, and the
dearer ones that are marked. Usage: drawn.py PROGRAM RUN [REPORTS]"""

import json
import math
import random
import re
import shutil
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

OPEN = re.compile(r"[^.,;]*no significant difference[^.;]*|[^.,;]*too few rounds\)?", re.I)
ORDER = re.compile(r"[1-9]\d*(\.\d+)?% (less|more|lower|higher|faster|slower)\b|× the |\b(beats|quicker|faster|slower|cheaper) ")


def normal(draw):
    return draw.gauss(0, 1)


def heavy(draw):
    """Student's t with two degrees of freedom."""
    return normal(draw) / math.sqrt(-math.log(1 - draw.random()))


def mode(draw, slow):
    return 1.35 if draw.random() < slow else 1.0


# The six kinds of crates/stats/tests/simulation/noise.rs: the factor of a visit, beside a neighbour that stays.
KINDS = {
    "calm": lambda draw, _: math.exp(0.02 * normal(draw)),
    "exponential": lambda draw, _: math.exp(0.005 * normal(draw)) * (1 + draw.expovariate(10)),
    "two modes, half slow": lambda draw, _: math.exp(0.01 * normal(draw)) * mode(draw, 0.5),
    "two modes, four fifths slow": lambda draw, _: math.exp(0.01 * normal(draw)) * mode(draw, 0.8),
    "sticky": lambda draw, is_disturbed: math.exp(0.01 * normal(draw)) * (1.3 if is_disturbed else 1.0),
    "heavy tails": lambda draw, _: math.exp(0.02 * heavy(draw)),
}


def times(value, factor, name=""):
    """The same record with all times this many times as long."""
    if isinstance(value, dict):
        return {key: times(of, factor, key) for key, of in value.items()}
    if isinstance(value, list):
        return [times(of, factor, name) for of in value]
    if (name.endswith("_ns") or name == "seconds") and isinstance(value, (int, float)):
        return type(value)(value * factor)
    return value


def line(record):
    body = json.dumps(record, separators=(",", ":"))[:-1]
    return f'{body},"crc":"{zlib.crc32(body.encode()):08x}"}}\n'


class Run:
    def __init__(self, program, stored, folder):
        self.program, self.folder = program, Path(folder) / "run"
        shutil.copytree(stored, self.folder)
        records = [json.loads(text) for text in (self.folder / "records.ndjson").read_text().splitlines()]
        visits = {}
        for record in records:
            record.pop("crc", None)
            if record["type"] == "visit":
                visits.setdefault(record["cell"], record)
        self.groups = [[cell for cell in group["cells"] if cell in visits] for group in self.report()["groups"]]
        self.groups = [cells for cells in self.groups if len(cells) > 1]
        self.visits = {cell: visits[cells[0]] for cells in self.groups for cell in cells}
        self.dearer = {cells[1] for cells in self.groups}

    def report(self):
        return json.loads(subprocess.run([self.program, "runs", "show", self.folder, "--json"], stdout=subprocess.PIPE, check=True).stdout)

    def drawn(self, kind, factor, rounds, draw):
        """The report of drawn records."""
        order, is_disturbed = list(self.visits), draw.random() < 0.5
        with open(self.folder / "records.ndjson", "w") as file:
            for number in range(1, rounds + 1):
                draw.shuffle(order)
                for cell in order:
                    is_disturbed ^= draw.random() < 0.05
                    cost = KINDS[kind](draw, is_disturbed) * (factor if cell in self.dearer else 1)
                    file.write(line({**times(self.visits[cell], cost), "cell": cell, "round": number}))
            file.write(line({"type": "end", "at": 0, "rounds": rounds, "seconds": 60.0}))
        return self.report()


def marked(report, cells):
    """By configuration of these, the marks beside another of its comparison: -1, 0 or 1."""
    rows = {row["cell"]["id"]: row for row in report["rows"]}
    own = [ratio for cell in cells for ratio in rows[cell]["beside"].values() if ratio["value"] != 1 or ratio["low"] != ratio["high"]]
    return [(ratio["low"] > 1) - (ratio["high"] < 1) for ratio in own]


def said(report):
    texts = [finding["text"] for finding in report["findings"]] + [one["text"] for one in (report["advice"] or {}).get("sentences", [])]
    return [text for text in texts if "ublished" not in text and ORDER.search(OPEN.sub("", text))]


def main():
    program, stored, reports = str(Path(sys.argv[1]).resolve()), sys.argv[2], int((sys.argv + ["200"])[3])
    with tempfile.TemporaryDirectory() as folder:
        run = Run(program, stored, folder)
        print(f"{stored}: {len(run.groups)} comparisons, {len(run.visits)} configurations; {reports} reports without a difference, {reports // 5} with one\n")
        print("| Noise | Rounds | Wrong mark | Wrong sentence | Found: +20% | 2× |\n|---|---|---|---|---|---|", flush=True)
        for kind in KINDS:
            for rounds in (5, 8, 12):
                draw = random.Random(f"{kind} {rounds}")
                alike = [run.drawn(kind, 1, rounds, draw) for _ in range(reports)]
                mark = sum(any(marked(report, run.visits)) for report in alike) / reports
                sentence = sum(bool(said(report)) for report in alike) / reports
                found = []
                for factor in (1.2, 2):
                    marks = [mark for _ in range(reports // 5) for mark in marked(run.drawn(kind, factor, rounds, draw), run.dearer)]
                    found.append(sum(mark > 0 for mark in marks) / max(len(marks), 1))
                print(f"| {kind} | {rounds} | {mark:.3f} | {sentence:.3f} | {found[0]:.2f} | {found[1]:.2f} |", flush=True)


main()
