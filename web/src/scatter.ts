// CPU time against bytes: every configuration as a point that can be chosen, and the curve on which everything costs as much as the best.
// Where no bytes are known, each has a line of its own.
//
// Plot draws axes and grid and gives the scales. Points and curve are drawn here, so that a slider's move changes only what it moves.

import * as Plot from "@observablehq/plot";
import { colour } from "./colours";
import type { Conditions, Data, Group, Point } from "./data";
import { s } from "./dom";
import { bytes as bytesText, ns, tick } from "./format";
import { plot } from "./plot";
import { type Ranked, costOf, knownOf, shares, valueOf } from "./ranking";

const MARGIN = { left: 74, right: 24, top: 26, bottom: 46 };
/** Points of the curve. */
const CURVE = 120;
/** Pixels of a line of its own: with room for its name, or of many lines the least. */
const lineOf = (count: number) => Math.min(40, Math.max(14, 640 / count));
/** Labels of configurations that tie with the best. */
const NAMED = 4;

interface Placed {
  point: Point;
  x: number;
  y: number;
  low: number;
  high: number;
}

export interface Scatter {
  element: HTMLElement;
  /** Moves the marks of ranks and the curve; draws anew only if points moved. */
  update: (ranked: Ranked[], conditions: Conditions) => void;
  select: (id: string | null) => void;
}

export function scatter(data: Data, group: Group, width: number, choose: (point: Point) => void): Scatter {
  const element = document.createElement("div");
  element.className = "plot";
  const isList = data.costs?.bytes == null;
  const height = isList ? Math.round(group.points.length * lineOf(group.points.length)) + 90 : Math.round(Math.min(Math.max(width * 0.56, 300), 430));
  let drawn: Drawn | null = null;
  let key = "";
  let selected: string | null = null;
  const update = (ranked: Ranked[], conditions: Conditions) => {
    const mix = shares(group, conditions);
    const shown = ranked.map((one) => one.point.id).sort().join("\n");
    const now = `${mix.join(",")}|${shown}`;
    if (now !== key || drawn === null) {
      key = now;
      drawn = draw(data, ranked, mix, width, height, choose);
      element.replaceChildren(drawn.svg);
    }
    mark(drawn, data, group, ranked, conditions);
    highlight(drawn, selected);
  };
  const select = (id: string | null) => {
    selected = id;
    if (drawn !== null) highlight(drawn, id);
  };
  return { element, update, select };
}

interface Drawn {
  svg: SVGElement;
  marks: Map<string, SVGGElement>;
  placed: Map<string, Placed>;
  curve: SVGPathElement;
  labels: SVGGElement;
  x: (value: number) => number;
  y: (value: number) => number;
  domain: { x: [number, number]; y: [number, number] };
  width: number;
  height: number;
}

function ends(values: number[]): [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low === high ? [low / 2, high * 2] : [low, high];
}

/** At most this many round numbers inside a domain. */
function ticksOf([low, high]: [number, number], most: number): number[] {
  const [fine, half] = [5, 2].map((parts) => Array.from({ length: 9 * parts }, (_, step) => 1 + step / parts));
  for (const steps of [fine!, half!, [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8], [1, 1.5, 2, 3, 4, 5, 7], [1, 2, 3, 5], [1, 2, 5], [1, 3], [1]]) {
    const ticks: number[] = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
      ticks.push(...steps.map((step) => Number((step * 10 ** power).toPrecision(3))));
    }
    const inside = ticks.filter((tick) => tick >= low && tick <= high);
    if (inside.length <= most) return inside;
  }
  return [low, high].map((end) => Number(end.toPrecision(2)));
}

function draw(
  data: Data,
  ranked: Ranked[],
  mix: [number, number],
  width: number,
  height: number,
  choose: (point: Point) => void,
): Drawn {
  const isList = data.costs?.bytes == null;
  let line = 0;
  const figures = ranked.flatMap(({ point }) => {
    const [cost, bytes] = [costOf(point, mix), isList ? ++line : point.bytes];
    if (cost === null || bytes === null || cost.value <= 0 || bytes <= 0) return [];
    return [{ point, cost: cost.value, bytes, low: cost.low ?? cost.value, high: cost.high ?? cost.value }];
  });
  const [lowX, highX] = ends(figures.flatMap((f) => [f.cost, Math.min(f.high, f.cost * 3)]));
  const [lowY, highY] = ends(figures.map((f) => f.bytes));
  const pad = Math.max(highX / lowX, 1.2) ** 0.1;
  const padY = Math.max(highY / lowY, 1.2) ** 0.08;
  const domain = {
    x: [lowX / pad, highX * pad] as [number, number],
    y: (isList ? [line + 0.7, 0.3] : [lowY / padY, highY * padY]) as [number, number],
  };
  const names = [data.costs?.write, data.costs?.read].filter((name): name is string => name != null);
  const across = ticksOf(domain.x, width < 500 ? 4 : 8);
  const down = ticksOf(domain.y, 7);
  const drawn = plot({
    width,
    height,
    marginLeft: MARGIN.left,
    marginRight: MARGIN.right,
    marginTop: MARGIN.top,
    marginBottom: MARGIN.bottom,
    style: { background: "transparent", fontSize: "13px" },
    x: { type: "log", domain: domain.x, axis: null },
    y: { type: highY / lowY > 3 && !isList ? "log" : "linear", domain: domain.y, axis: null },
    marks: [
      Plot.gridX(across, { strokeOpacity: 0.12 }),
      isList ? null : Plot.gridY(down, { strokeOpacity: 0.12 }),
      Plot.axisX(across, {
        text: (value: number) => tick("ns")(value),
        label: `CPU time per operation: ${names.join(" and ")} →`,
        labelAnchor: "right",
        labelArrow: "none",
        labelOffset: 40,
      }),
      isList ? null : Plot.axisY(down, {
        text: (value: number) => tick("bytes")(value),
        label: `↑ ${data.costs?.bytes ?? "bytes"} per operation`,
        labelArrow: "none",
      }),
    ],
  });
  const x = (value: number) => drawn.scale("x")!.apply(value) as number;
  const y = (value: number) => drawn.scale("y")!.apply(value) as number;
  drawn.setAttribute("viewBox", `0 0 ${width} ${height}`);
  drawn.setAttribute("role", "group");
  drawn.setAttribute(
    "aria-label",
    `${ranked.length} ${data.noun[1]} by CPU time${isList ? "" : " and bytes"}. The ranking has the same figures.`,
  );
  const placed = new Map<string, Placed>();
  for (const f of figures) {
    placed.set(f.point.id, { point: f.point, x: x(f.cost), y: y(f.bytes), low: x(f.low), high: x(Math.min(f.high, domain.x[1])) });
  }
  const curve = s("path", { class: "iso", fill: "none" });
  const points = s("g", { class: "points" });
  const labels = s("g", { class: "labels", "aria-hidden": "true" });
  const marks = new Map<string, SVGGElement>();
  for (const f of figures) {
    const at = placed.get(f.point.id);
    if (at === undefined) continue;
    const pick = () => choose(f.point);
    const mark = s(
      "g",
      {
        class: "point",
        role: "button",
        tabindex: "-1",
        style: `color:${colour(f.point.family)}`,
        "aria-label": `${f.point.label}: ${ns(f.cost)}${isList ? "" : `, ${bytesText(f.bytes)}`}`,
        click: pick,
        keydown: (event: Event) => {
          const { key } = event as KeyboardEvent;
          if (key === "Enter" || key === " ") {
            event.preventDefault();
            pick();
          }
          if (key === "ArrowRight" || key === "ArrowLeft") {
            event.preventDefault();
            step(figures.map((figure) => figure.point.id), f.point.id, key === "ArrowRight" ? 1 : -1, placed, marks);
          }
        },
      },
      s("line", { class: "error", x1: at.low, x2: at.high, y1: at.y, y2: at.y }),
      s("circle", { class: "ring", cx: at.x, cy: at.y, r: 9 }),
      f.point.recommended
        ? s("path", { class: "dot", d: diamond(at.x, at.y, 7) })
        : s("circle", { class: f.point.front ? "dot front" : "dot", cx: at.x, cy: at.y, r: f.point.front ? 5 : 3.5 }),
      s("title", {}, f.point.label),
    );
    marks.set(f.point.id, mark);
    points.append(mark);
  }
  // One point can be reached by Tab; arrows go to the others.
  const first = ranked.find((one) => marks.has(one.point.id));
  if (first !== undefined) marks.get(first.point.id)?.setAttribute("tabindex", "0");
  drawn.append(curve, points, labels);
  return { svg: drawn, marks, placed, curve, labels, x, y, domain, width, height };
}

function diamond(x: number, y: number, r: number): string {
  return `M${x},${y - r}L${x + r},${y}L${x},${y + r}L${x - r},${y}Z`;
}

/** Moves the focus to the next point from left to right. */
function step(
  ids: string[],
  from: string,
  by: number,
  placed: Map<string, Placed>,
  marks: Map<string, SVGGElement>,
): void {
  const order = ids.filter((id) => placed.has(id)).sort((a, b) => (placed.get(a)?.x ?? 0) - (placed.get(b)?.x ?? 0));
  const next = order[order.indexOf(from) + by];
  const mark = next === undefined ? undefined : marks.get(next);
  if (mark === undefined) return;
  marks.get(from)?.setAttribute("tabindex", "-1");
  mark.setAttribute("tabindex", "0");
  mark.focus();
}

/** The marks of ranks, the curve and the names. */
function mark(drawn: Drawn, data: Data, group: Group, ranked: Ranked[], conditions: Conditions): void {
  const best = ranked.find((one) => one.best);
  for (const one of ranked) {
    const mark = drawn.marks.get(one.point.id);
    mark?.classList.toggle("best", one.best);
    mark?.classList.toggle("tie", one.tie && !one.best);
    mark?.classList.toggle("given-up", !one.point.candidate);
  }
  const curve = best === undefined || data.costs?.bytes == null ? [] : iso(drawn, data, group, best, conditions);
  const path = curve.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join("L");
  drawn.curve.setAttribute("d", path === "" ? "" : `M${path}`);
  name(drawn, ranked, curve);
}

/** Where an operation costs as much as with the best: for each number of bytes, the CPU time that is left. */
function iso(drawn: Drawn, data: Data, group: Group, best: Ranked, conditions: Conditions): [number, number][] {
  const [perNs] = valueOf(conditions, 0, 0);
  if (perNs === 0) return [];
  const left = (bytes: number) => (best.total - knownOf(data, group, best.point, conditions, bytes)) / perNs;
  // More bytes leave less: between the two edges of the chart lies all that is seen of it, however flat it is.
  const high = lastWith((bytes) => left(bytes) >= drawn.domain.x[0], drawn.domain.y);
  const low = lastWith((bytes) => left(bytes) > drawn.domain.x[1], drawn.domain.y);
  if (high === null) return [];
  const [from, to] = [low ?? drawn.domain.y[0], high];
  const points: [number, number][] = [];
  for (let at = 0; at <= CURVE; at++) {
    const bytes = from * (to / from) ** (at / CURVE);
    const cost = Math.min(Math.max(left(bytes), drawn.domain.x[0]), drawn.domain.x[1]);
    points.push([drawn.x(cost), drawn.y(bytes)]);
  }
  return points;
}

/** The largest number in a range for which something holds that holds for small ones only. */
function lastWith(holds: (value: number) => boolean, [low, high]: [number, number]): number | null {
  if (!holds(low)) return null;
  if (holds(high)) return high;
  for (let halved = 0; halved < 40; halved++) {
    const middle = Math.sqrt(low * high);
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Measures names, in the font of the style sheet. */
const pen = document.createElement("canvas").getContext("2d")!;
const FONT = '12.5px system-ui, "Noto Sans", "DejaVu Sans", sans-serif';

/** Names of the best, of what is recommended and usual, and of a few that tie with the best, where there is room. */
function name(drawn: Drawn, ranked: Ranked[], curve: [number, number][]): void {
  const told = [
    ...ranked.filter((one) => one.best),
    ...ranked.filter((one) => one.point.recommended),
    ...ranked.filter((one) => one.point.marks.length > 0),
    ...ranked.filter((one) => one.tie).slice(0, NAMED),
    ...ranked.filter((one) => one.point.front),
  ];
  const isList = ranked.every((one) => one.point.bytes === null) && lineOf(ranked.length) > 30;
  // A line of its own has its name above it.
  if (isList) told.push(...ranked);
  // Names stay away from points and their intervals.
  const taken: Box[] = [...drawn.placed.values()].flatMap((at) => [box(at.x - 9, at.y - 9, 18, 18), box(at.low, at.y - 2, at.high - at.low, 4)]);
  // Names stay away from the curve; only what must be named may cross it.
  const crossed = alongCurve(curve);
  const seen = new Set<string>();
  const texts: SVGTextElement[] = [];
  for (const one of told) {
    const at = drawn.placed.get(one.point.id);
    if (at === undefined || seen.has(one.point.id)) continue;
    seen.add(one.point.id);
    const words = one.point.label.length > 40 ? `${one.point.label.slice(0, 39)}…` : one.point.label;
    pen.font = `${one.best ? 700 : 400} ${FONT}`;
    const width = pen.measureText(words).width + 4;
    const places: [number, number, string][] = [
      [at.x + 11, at.y + 4, "start"],
      [at.x - 11, at.y + 4, "end"],
      [at.x, at.y - 13, "middle"],
      [at.x, at.y + 22, "middle"],
      [at.x - 4, at.y - 13, "start"],
      [at.x - 4, at.y + 22, "start"],
      [at.x + 4, at.y - 13, "end"],
      [at.x + 4, at.y + 22, "end"],
    ];
    const boxOf = ([x, y, anchor]: [number, number, string]) =>
      box(anchor === "start" ? x : anchor === "end" ? x - width : x - width / 2, y - 12, width, 15);
    const free = isList ? [[8, at.y - 14, "start"] as [number, number, string]] : places.filter((place) => {
      const own = boxOf(place);
      const isInside = own.left > MARGIN.left && own.right < drawn.width - 4 && own.top > 4 && own.bottom < drawn.height - MARGIN.bottom;
      return isInside && taken.every((other) => !overlap(own, other));
    });
    const isNeeded = one.best || one.point.recommended;
    const clear = free.find((place) => crossed.every((other) => !overlap(boxOf(place), other)));
    const chosen = clear ?? (isNeeded ? free[0] : undefined);
    if (chosen === undefined) continue;
    const [x, y, anchor] = chosen;
    taken.push(boxOf(chosen));
    texts.push(s("text", { x, y, "text-anchor": anchor, class: one.best ? "name best" : "name" }, words));
  }
  drawn.labels.replaceChildren(...texts);
}

const box = (left: number, top: number, width: number, height: number): Box => ({
  left,
  top,
  right: left + width,
  bottom: top + height,
});

/** Small boxes all along a curve. */
function alongCurve(curve: [number, number][]): Box[] {
  return curve.slice(1).flatMap(([x, y], at) => {
    const [fromX, fromY] = curve[at] ?? [x, y];
    const pieces = Math.ceil(Math.hypot(x - fromX, y - fromY) / 6) || 1;
    return Array.from({ length: pieces }, (_, piece) => {
      const part = (piece + 1) / pieces;
      return box(fromX + (x - fromX) * part - 2, fromY + (y - fromY) * part - 2, 4, 4);
    });
  });
}
const overlap = (a: Box, b: Box) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

function highlight(drawn: Drawn, id: string | null): void {
  for (const [of, mark] of drawn.marks) {
    mark.classList.toggle("selected", of === id);
    mark.setAttribute("aria-pressed", String(of === id));
  }
}
