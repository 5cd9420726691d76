// Slow clients over time: the busy workers of a pool and the response times of light requests, for the setups and the number of slow clients that
// the reader chooses. One moment, chosen by pointer or by keyboard, has its values in a table.

import * as Plot from "@observablehq/plot";
import type { Data, Slow } from "./data";
import { copyButton, h, place, s } from "./dom";
import { ofUnit, tick } from "./format";
import { plot } from "./plot";
import { tiles } from "./tiles";

/** Setups that are shown at first. */
const FEW = 4;
/** Strokes of lines, so that setups with one colour differ. */
const DASHES = ["", "7 4", "2 3"];
const COLOURS = 6;
/** Steps of the slider along the time. */
const STEPS = 100;

const seconds = (value: number) => ofUnit("s", value, null, null);
const dash = (one: Slow) => DASHES[Math.floor(one.place / COLOURS) % DASHES.length] ?? "";
/** The variable that holds a setup's colour. */
const variable = (one: Slow) => `--setup-${one.place}`;
const colour = (one: Slow) => `var(${variable(one)})`;
const clientsText = (count: number) => (count === 0 ? "no slow client" : count === 1 ? "1 slow client" : `${count} slow clients`);

/** A line of a chart: gaps where a value is null. */
interface Line {
  of: Slow;
  points: [number, number | null][];
}

interface Chart {
  element: HTMLElement;
  /** Shows the moment. */
  move: (at: number) => void;
}

/** Puts the section after the explorer. */
export function waits(data: Data, after: HTMLElement): void {
  const all = data.slow.filter((one) => one.busy.length > 0 || one.light.length > 0 || one.percentiles.length > 0);
  if (all.length === 0) return;
  const setups = [...new Map(all.map((one) => [one.setup, one])).values()].sort((a, b) => a.place - b.place);
  const numbers = [...new Set(all.map((one) => one.clients))].sort((a, b) => a - b);
  // The fewest slow clients that can keep every worker busy tell the most.
  const workers = Math.max(...all.map((one) => one.workers));
  let clients = numbers.find((number) => number >= workers) ?? numbers[numbers.length - 1] ?? 0;
  const chosen = new Set(telling(all.filter((one) => one.clients === clients)));
  const end = Math.max(...all.flatMap((one) => [...one.busy.map(([at]) => at), ...one.light.map(([at]) => at)]), 0);
  let at = end / 2;
  let charts: Chart[] = [];

  const figures = h("div", { class: "figures" });
  const values = h("div", { class: "scroll", role: "region", "aria-label": "Values at this time", tabindex: "0" });
  const commands = h("div");
  const time = h("input", { type: "range", id: "moment", min: 0, max: STEPS, step: 1, value: STEPS / 2 });
  const told = h("output", { for: "moment" });
  const shown = () => all.filter((one) => one.clients === clients && chosen.has(one.setup)).sort((a, b) => a.place - b.place);

  const move = (to: number) => {
    at = Math.min(Math.max(to, 0), end);
    const words = `${at.toFixed(2)} s`;
    time.value = String(end === 0 ? 0 : Math.round((at / end) * STEPS));
    time.setAttribute("aria-valuetext", words);
    told.textContent = words;
    for (const chart of charts) chart.move(at);
    values.replaceChildren(valuesAt(shown(), at));
  };
  const build = () => {
    const now = shown();
    // A section of two columns where there is room.
    const room = Math.max(Math.floor(figures.clientWidth || 320), 280);
    const width = room > 760 ? Math.floor((room - 24) / 2) : room;
    charts = [busy(now, width, end, move), light(now, width, end, move)].filter((chart): chart is Chart => chart !== null);
    const shares = percentiles(now, width);
    figures.replaceChildren(...charts.map((chart) => chart.element), ...(shares === null ? [] : [shares]));
    if (now.length === 0) figures.replaceChildren(h("p", {}, "Choose a method."));
    commands.replaceChildren(
      ...now.flatMap((one) => {
        const { command } = one;
        return command === null
          ? []
          : [
              h("p", {}, `${one.setup}, ${clientsText(one.clients)}:`),
              h("pre", { class: "literal" }, h("code", {}, command), copyButton(() => command)),
            ];
      }),
    );
    repeated.hidden = commands.childElementCount === 0;
    place("tiles").replaceChildren(...tilesOf(all.filter((one) => one.clients === clients)));
    move(at);
  };
  time.addEventListener("input", () => move((Number(time.value) / STEPS) * end));

  const method = (one: Slow) => {
    const input = h("input", { type: "checkbox", value: one.setup });
    input.checked = chosen.has(one.setup);
    input.addEventListener("change", () => {
      if (input.checked) chosen.add(one.setup);
      else chosen.delete(one.setup);
      build();
    });
    return h("label", {}, input, key(one), h("span", {}, one.setup));
  };
  const number = (count: number) => {
    const input = h("input", { type: "radio", name: "slow-clients", value: count, change: () => ((clients = count), build()) });
    input.checked = count === clients;
    return h("label", {}, input, h("span", {}, count === 0 ? "none" : String(count)));
  };
  const repeated = h("details", {}, h("summary", {}, "Measure one of these again"), commands);
  const section = h(
    "section",
    { id: "waits", "aria-labelledby": "waits-title" },
    h("h2", { id: "waits-title" }, "Slow clients over time"),
    h(
      "p",
      { class: "remark" },
      "Slow clients download from a PHP pool while light requests need a worker of the same pool. Choose methods and the number of slow clients. " +
        "Point at a chart or move the slider for the values at one time. The last block of each configuration is shown.",
    ),
    h(
      "div",
      { class: "panel" },
      h("fieldset", { class: "choice" }, h("legend", {}, "Slow clients"), ...numbers.map(number)),
      h("fieldset", { class: "families methods" }, h("legend", {}, "Server and method"), ...setups.map(method)),
    ),
    figures,
    h("div", { class: "slider moment" }, h("label", { for: "moment" }, "Time"), told, time),
    values,
    repeated,
  );
  for (const one of setups) section.style.setProperty(variable(one), one.color);
  after.after(section);
  build();
  let last = figures.clientWidth;
  new ResizeObserver(() => {
    if (Math.abs(figures.clientWidth - last) < 8) return;
    last = figures.clientWidth;
    build();
  }).observe(figures);
}

/** The best of these against the worst of the same server. */
function tilesOf(all: Slow[]): HTMLElement[] {
  const busy = (one: Slow) => one.busy.map(([, count]) => count).sort((a, b) => a - b)[Math.floor(one.busy.length / 2)] ?? 0;
  const most = (one: Slow) => Math.max(0, ...one.busy.map(([, count]) => count));
  const ordered = [...all].sort((a, b) => shareOf(b) - shareOf(a) || busy(a) - busy(b) || most(a) - most(b));
  const [after, ...others] = ordered;
  const before = others.reverse().find((one) => serverOf(one) === (after === undefined ? "" : serverOf(after)));
  if (after === undefined || before === undefined) return [];
  const tile = (name: string, of: (one: Slow) => string) => ({ name, before: of(before), after: of(after), change: "" });
  return tiles(`Light requests with ${clientsText(after.clients)}, ${after.setup} compared with ${before.setup}:`, [
    tile("Busy workers", (one) => `${busy(one)} of ${one.workers}`),
    tile("Answered in 0.1 s", (one) => `${Math.round(100 * shareOf(one))}%`),
    tile("Wait, median", (one) => overall(one, one.p50)),
  ]);
}

const shareOf = (one: Slow) => one.prompt / Math.max(one.due, 1);
const serverOf = (one: Slow) => one.setup.split(" · ")[0] ?? "";

/** Of each server the setup whose light requests fare best, and the one whose fare worst; then others. */
function telling(all: Slow[]): string[] {
  const ordered = [...all].sort((a, b) => shareOf(a) - shareOf(b));
  const ends = [...new Set(ordered.map(serverOf))].flatMap((name) => {
    const own = ordered.filter((one) => serverOf(one) === name);
    return [own[0], own[own.length - 1]];
  });
  const names = [...ends, ...ordered].flatMap((one) => (one === undefined ? [] : [one.setup]));
  return [...new Set(names)].slice(0, FEW);
}

/** A short piece of a setup's line. */
function key(one: Slow): SVGElement {
  const line = s("line", { x1: 0, x2: 26, y1: 6, y2: 6, "stroke-width": 3, "stroke-dasharray": dash(one) });
  line.style.stroke = colour(one);
  return s("svg", { class: "key", width: 26, height: 12, "aria-hidden": "true" }, line);
}

/** What the charts have in common, and their horizontal axes. */
const layout = { height: 240, marginLeft: 64, marginRight: 14, marginBottom: 42, style: { background: "transparent", fontSize: "12px" } };
const axis = { labelArrow: "none", labelOffset: 36, ticks: 5 } as const;

/** A chart over time, with a line at the moment. */
function chart(
  title: string,
  words: string,
  lines: Line[],
  more: Plot.Markish[],
  y: Plot.ScaleOptions,
  [width, end]: [number, number],
  move: (at: number) => void,
  isStep: boolean,
): Chart {
  const drawn = plot({
    ...layout,
    width,
    x: { ...axis, domain: [0, Math.max(end, 0.1)], label: "seconds" },
    y: { grid: true, ticks: 4, label: null, ...y },
    marks: [
      ...more,
      ...lines.map(({ of, points }) =>
        Plot.line(points, {
          x: "0",
          y: (point: [number, number | null]) => point[1] ?? NaN,
          stroke: colour(of),
          strokeWidth: 2,
          strokeDasharray: dash(of),
          curve: isStep ? "step-after" : "linear",
        }),
      ),
      ...lines.map(({ of, points }) => isStep ? null : Plot.dot(points.filter(([, value]) => value !== null), { x: "0", y: "1", fill: colour(of), r: 2.5 })),
    ],
  });
  drawn.setAttribute("role", "img");
  drawn.setAttribute("aria-label", `${title}. ${words}`);
  const x = drawn.scale("x")!;
  const [from, to] = (x.range ?? [0, width]) as [number, number];
  const cursor = s("line", { class: "cursor", y1: 20, y2: 198 });
  drawn.append(cursor);
  drawn.addEventListener("pointermove", (event) => {
    const box = drawn.getBoundingClientRect();
    const place = ((event.clientX - box.left) / box.width) * width;
    if (place >= from && place <= to) move(((place - from) / (to - from)) * Math.max(end, 0.1));
  });
  const show = (at: number) => {
    const place = String(x.apply(at));
    cursor.setAttribute("x1", place);
    cursor.setAttribute("x2", place);
  };
  return { element: h("figure", {}, h("figcaption", {}, title), drawn, h("p", { class: "remark" }, words)), move: show };
}

function busy(shown: Slow[], width: number, end: number, move: (at: number) => void): Chart | null {
  const read = shown.filter((one) => one.busy.length > 0);
  if (read.length === 0) return null;
  const most = Math.max(...read.map((one) => one.workers));
  const words = read.map((one) => {
    const all = one.busy.filter(([, count]) => count >= one.workers).length;
    return `${one.setup}: all ${one.workers} busy in ${Math.round((100 * all) / one.busy.length)}% of ${one.busy.length} readings`;
  });
  const lines = read.map((of) => ({ of, points: of.busy.map(([at, count]): [number, number] => [at, count]) }));
  const limit = Plot.ruleY([most], { stroke: "currentColor", strokeDasharray: "3 3" });
  return chart(`Busy workers of ${most} (dashed)`, `${words.join("; ")}.`, lines, [limit], { domain: [0, most * 1.1] }, [width, end], move, true);
}

function light(shown: Slow[], width: number, end: number, move: (at: number) => void): Chart | null {
  const read = shown.filter((one) => one.light.some(([, , median]) => median !== null));
  if (read.length === 0) return null;
  const lines = read.map((of) => ({ of, points: of.light.map(([at, , median]): [number, number | null] => [at, median]) }));
  const words = read.map((one) => {
    const longest = Math.max(...one.light.map(([, , , longest]) => longest ?? 0));
    return `${one.setup}: longest ${seconds(longest)}`;
  });
  return chart(
    "Response time of light requests, median by quarter second",
    `${words.join("; ")}. A gap: nothing was answered.`,
    lines,
    [],
    { type: "log", tickFormat: tick("s") },
    [width, end],
    move,
    false,
  );
}

/** Response times by the share of requests that took no longer. */
function percentiles(shown: Slow[], width: number): HTMLElement | null {
  const read = shown.filter((one) => one.percentiles.length > 0);
  if (read.length === 0) return null;
  const drawn = plot({
    ...layout,
    width,
    x: { ...axis, domain: [50, 100], label: "percent of light requests, of all blocks" },
    y: { type: "log", grid: true, ticks: 4, label: null, tickFormat: tick("s") },
    marks: [
      Plot.ruleY([0.1], { stroke: "currentColor", strokeDasharray: "3 3" }),
      ...read.map((one) =>
        Plot.line(one.percentiles, { x: "0", y: "1", stroke: colour(one), strokeWidth: 2, strokeDasharray: dash(one), marker: "dot" }),
      ),
    ],
  });
  const told = (one: Slow) => {
    return `${one.setup}: ${Math.round(100 * shareOf(one))}% within 0.1 s`;
  };
  const silent = shown.filter((one) => one.percentiles.length === 0).map((one) => one.setup);
  const rest = silent.length === 0 ? "" : ` Less than half answered: ${silent.join(", ")}.`;
  const words = `${shown.map(told).join("; ")}. Dashed: 0.1 s. A line that ends early: the rest was not answered.${rest}`;
  const title = "Share of light requests answered within a time";
  drawn.setAttribute("role", "img");
  drawn.setAttribute("aria-label", `${title}. ${words}`);
  return h("figure", {}, h("figcaption", {}, title), drawn, h("p", { class: "remark" }, words));
}

/** The latest entry at a time or before. */
function latest<T extends [number, ...unknown[]]>(entries: T[], at: number): T | null {
  let found: T | null = null;
  for (const entry of entries) if (entry[0] <= at) found = entry;
  return found;
}

const orNone = (value: number | null | undefined) => (value === null || value === undefined ? "–" : seconds(value));

function valuesAt(shown: Slow[], at: number): HTMLElement {
  const row = (one: Slow) => {
    const pool = latest(one.busy, at);
    const times = latest(one.light, at);
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, key(one), " ", one.setup),
      h("td", { class: "number" }, pool === null ? "–" : `${pool[1]} of ${one.workers}`),
      h("td", { class: "number" }, pool === null ? "–" : String(pool[2])),
      one.light.length > 0 && h("td", { class: "number" }, times === null ? "–" : String(times[1])),
      one.light.length > 0 && h("td", { class: "number" }, orNone(times?.[2])),
      one.light.length > 0 && h("td", { class: "number" }, orNone(times?.[3])),
      one.light.length === 0 && hasLight && h("td", { colspan: 3 }, "not recorded"),
      h("td", { class: "number" }, overall(one, one.p50)),
      h("td", { class: "number" }, overall(one, one.p99)),
      h("td", {}, one.outcome),
    );
  };
  const hasLight = shown.some((one) => one.light.length > 0);
  const heads = ["busy workers", "waiting connections", ...(hasLight ? ["answered", "median", "longest"] : []), "p50 of all", "p99 of all"];
  return h(
    "table",
    { class: "grid" },
    h("caption", {}, `At ${at.toFixed(2)} s`),
    h(
      "thead",
      {},
      h("tr", {}, h("th", { scope: "col" }, "method"), ...heads.map((name) => h("th", { scope: "col", class: "number" }, name)), h("th", { scope: "col" }, "workers are")),
    ),
    h("tbody", {}, ...shown.map(row)),
  );
}

const overall = (one: Slow, value: number | null) =>
  value === null && one.beyond !== null ? `> ${seconds(one.beyond)}` : orNone(value);
