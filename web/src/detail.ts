// One configuration: what it is exactly, every figure, its samples, and the command that repeats it.

import * as Plot from "@observablehq/plot";
import type { Data, Point } from "./data";
import { copyButton, h } from "./dom";
import { ofUnit, tick } from "./format";
import { plot } from "./plot";

/** A chart with its figures as text for those who do not see it. */
function figure(title: string, drawn: Element, words: string): HTMLElement {
  drawn.setAttribute("role", "img");
  drawn.setAttribute("aria-label", `${title}. ${words}`);
  return h("figure", {}, h("figcaption", {}, title), drawn, h("p", { class: "remark" }, words));
}

const style = { background: "transparent", fontSize: "12px" };

function unitOf(data: Data, id: string): string {
  return data.metrics.find((metric) => metric.id === id)?.unit ?? "";
}

function histogram(data: Data, point: Point, width: number): HTMLElement | null {
  const bins = point.histogram;
  if (bins === null) return null;
  // Times in a histogram have a metric for each of its statistics.
  const name = bins.metric.replace(/-(min|mean|count|max|p\d+)$/, "");
  const unit = ["", "-min", "-mean", "-p50"].map((of) => unitOf(data, name + of)).find((unit) => unit !== "") ?? "";
  const rows = bins.counts.map((count, at) => ({ count, low: bins.edges[at] ?? 0, high: bins.edges[at + 1] ?? 0 }));
  const drawn = plot({
    width,
    height: 180,
    marginLeft: 50,
    style,
    x: { type: "log", label: null, tickFormat: tick(unit), ticks: 4 },
    y: { label: "samples", labelArrow: "none", grid: true, ticks: 4 },
    marks: [
      Plot.rectY(rows, { x1: "low", x2: "high", y: "count", fill: "currentColor", insetLeft: 0.5, insetRight: 0.5 }),
      Plot.ruleY([0]),
    ],
  });
  const all = bins.counts.reduce((sum, count) => sum + count, 0);
  const most = rows.reduce((most, row) => (row.count > most.count ? row : most));
  const told = (amount: number) => ofUnit(unit, amount, null, null);
  const words = `${all} samples; most of them, ${most.count}, from ${told(most.low)} to ${told(most.high)}.`;
  return figure(`Distribution of ${name}${name === bins.metric ? "" : " times"}`, drawn, words);
}

function series(point: Point, width: number): HTMLElement[] {
  return point.series.map((of) => {
    const drawn = plot({
      width,
      height: 160,
      marginLeft: 70,
      style,
      x: { label: "seconds since the start of the run", labelArrow: "none", ticks: 5 },
      y: { label: null, tickFormat: tick(of.unit), grid: true, ticks: 4 },
      marks: [
        Plot.ruleY([point.values[of.name]?.[0] ?? NaN], { stroke: "currentColor" }),
        Plot.line(of.points, { x: "0", y: "1", stroke: "currentColor" }),
        Plot.dot(of.points, { x: "0", y: "1", fill: "currentColor", r: 2 }),
      ],
    });
    const words = `${of.points.length} rounds; the line across is the figure of the tables. A slope or a step is a change of the machine, not of the configuration.`;
    return figure(`${of.name} over time`, drawn, words);
  });
}

export function detail(data: Data, point: Point, width: number, close: () => void): HTMLElement {
  const config = h("dl", { class: "config" });
  for (const [name, value] of point.config) config.append(h("dt", {}, name), h("dd", {}, value));
  const metrics = data.metrics.filter((metric) => point.values[metric.id] !== undefined);
  const rows = metrics.map((metric) => {
    const [value, low, high, rounds] = point.values[metric.id] ?? [NaN, null, null, 0];
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, metric.id),
      h("td", { class: "number" }, ofUnit(metric.unit, value, low, high)),
      h("td", { class: "number" }, String(rounds)),
      h("td", {}, `${metric.about.replace(/\.$/, "")}; per ${metric.per}.`),
    );
  });
  const table = h(
    "table",
    { class: "grid" },
    h("caption", {}, "Every figure with its 95% interval"),
    h("thead", {}, h("tr", {}, ...["metric", "value", "rounds", "meaning"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, ...rows),
  );
  const place = [
    point.recommended && "It is recommended.",
    point.front && "It is on the Pareto front: nothing measured is both quicker and smaller.",
    point.dominated_by !== null && `${point.dominated_by} is no larger and not measurably slower.`,
    !point.candidate && "It was given up early: another configuration is significantly better in every respect.",
  ].filter((words): words is string => typeof words === "string");
  const [command, words] =
    point.command === null ? [data.command, "Measured by:"] : [point.command, "Measure this configuration again:"];
  return h(
    "div",
    {},
    h("div", { class: "bar" }, h("h3", {}, point.label), h("button", { type: "button", click: close }, "Close")),
    place.length > 0 && h("p", {}, place.join(" ")),
    point.caveats.length > 0 && h("ul", { class: "points" }, ...point.caveats.map((caveat) => h("li", {}, caveat))),
    config,
    h("div", { class: "charts" }, histogram(data, point, width), ...series(point, width)),
    h("div", { class: "scroll", role: "region", "aria-label": "Every figure", tabindex: "0" }, table),
    command !== null &&
      h(
        "div",
        {},
        h("p", {}, words),
        h("pre", { class: "literal" }, h("code", {}, command), copyButton(() => command)),
      ),
  );
}
