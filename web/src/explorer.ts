// The reader's own conditions: tiles, chart, controls, ranking and the details of one configuration, all following one state.

import { colour } from "./colours";
import { groupIn, inAddress, textOf, withText } from "./conditions";
import { controls } from "./controls";
import type { Conditions, Data, Group, Point } from "./data";
import { detail } from "./detail";
import { copyButton, h, place as placeOf } from "./dom";
import { bytes, list, mbit, ns, ofUnit, percent, price } from "./format";
import { type Ranked, type Sure, compared, rank, rankedAndSure } from "./ranking";
import { type Scatter, scatter } from "./scatter";
import { type Tile, tiles } from "./tiles";

/** Rows of the ranking that are shown at first. */
const FEW = 8;
/** Milliseconds after the last move before the best is announced, and before the address is changed. */
const CALM = 400;
/** A table with more rows than this follows when the slider rests, as tiles do: its layout takes longer than a frame. */
const LONG = 50;
/** Milliseconds without a move after which a slider rests. */
const REST = 60;

type Column = "total" | "cost" | "bytes";
interface Order {
  column: Column;
  isDescending: boolean;
}

/** Fills the place of the explorer, the chart beside the answer, and the tiles below it. */
export function explorer(data: Data, place: HTMLElement): void {
  const groups = data.groups.filter((group) => group.points.length > 0);
  if (groups.length === 0 || data.costs === null) return;
  const start = inAddress(location.hash) ?? "";
  let index = groupIn(start, data.groups.length, data.shown);
  let conditions = withText(data.conditions, start);
  let written = address();
  let families = new Set<string>();
  let all = false;
  let order: Order = { column: "total", isDescending: false };
  let chart: Scatter | null = null;
  let timer = 0;
  let resting = 0;

  const group = (): Group => data.groups[index] ?? (groups[0] as Group);
  const best = h("p", { class: "verdict" });
  const besides = h("p", { class: "besides" });
  const spoken = h("p", { class: "hidden", role: "status", "aria-live": "polite" });
  const tile = placeOf("tiles");
  const figure = h("figure", { class: "scatter" });
  const legend = h("figcaption", { class: "signs" });
  const table = h("div", { class: "scroll", role: "region", "aria-label": "Ranking", tabindex: "0" });
  const more = h("button", { type: "button", click: () => ((all = !all), show()) });
  const drawer = h("dialog", { id: "detail", close: () => chart?.select(null) });
  const command = h("code");
  const shell = h("pre", { class: "literal" }, command, copyButton(() => command.textContent ?? ""));
  const filter = h("fieldset", { class: "families" });
  const panel = controls(data, conditions, (changed) => {
    conditions = changed;
    show();
  });
  const options = data.groups.map((group, at) => h("option", { value: at }, group.title));
  const picker = h("select", { id: "group", change: () => ((index = Number(picker.value)), build()) }, ...options);

  const chartWidth = () => Math.max(Math.floor(figure.clientWidth || 320), 280);
  const isChosen = (point: Point) => families.size === 0 || families.has(point.family);

  /** A group was chosen, or the width changed. */
  function build(): void {
    picker.value = String(index);
    const names = [...new Set(group().points.map((point) => point.family))].sort();
    families = new Set([...families].filter((name) => names.includes(name)));
    filter.hidden = names.length < 2;
    filter.replaceChildren(
      h("legend", {}, "Show only"),
      ...names.map((name) => {
        const change = () => (families[input.checked ? "add" : "delete"](name), show());
        const input = h("input", { type: "checkbox", value: name, checked: families.has(name), change });
        return h("label", {}, input, h("span", { class: "swatch", style: `background:${colour(name)}` }), h("span", {}, name));
      }),
    );
    chart = scatter(data, group(), chartWidth(), choose);
    figure.replaceChildren(chart.element, legend);
    show();
  }

  /** Details of one, beside everything else; closed, the focus is back where it was. */
  function choose(point: Point): void {
    drawer.replaceChildren(detail(data, point, Math.min(innerWidth - 60, 560), () => drawer.close()));
    drawer.setAttribute("aria-label", `Details of ${point.label}`);
    chart?.select(point.id);
    drawer.showModal();
    drawer.scrollTop = 0;
  }

  function address(): string {
    return `${textOf(conditions)},group=${index}`;
  }

  /** The conditions changed: everything that follows from them. */
  function show(): void {
    const [ranked, sure] = rankedAndSure(data, group(), conditions, isChosen);
    chart?.update(ranked, conditions);
    const [first, rest] = answer(ranked, sure, conditions);
    best.textContent = first;
    besides.textContent = rest;
    const isLong = all && ranked.length > LONG;
    if (!isLong) showTable(ranked, sure);
    clearTimeout(resting);
    resting = window.setTimeout(() => {
      legend.replaceChildren(...signs(data, conditions));
      tile.replaceChildren(...tilesOf(data, group(), ranked, conditions));
      if (isLong) showTable(ranked, sure);
    }, REST);
    command.textContent = `weigh runs show RUN --at '${textOf(conditions)}'`;
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      spoken.textContent = `${first} ${rest}`;
      // An address of a part of the page stays until the reader changes something.
      const now = address();
      if (now === written) return;
      written = now;
      history.replaceState(null, "", `#${written}`);
    }, CALM);
  }

  function showTable(ranked: Ranked[], sure: Sure): void {
    const by: Record<Column, (one: Ranked) => number> = {
      total: (one) => one.total,
      cost: (one) => one.cost,
      bytes: (one) => one.point.bytes ?? 0,
    };
    const value = by[order.column];
    const ordered = [...ranked].sort((a, b) => value(a) - value(b));
    if (order.isDescending) ordered.reverse();
    const rows = all ? ordered : ordered.slice(0, FEW);
    const hasBytes = data.costs?.bytes != null;
    const head = (column: Column, words: string) => {
      const sort = () => {
        order = { column, isDescending: order.column === column && !order.isDescending };
        showTable(ranked, sure);
        table.querySelector<HTMLButtonElement>(`[data-sort="${column}"]`)?.focus();
      };
      const button = h("button", { type: "button", class: "sort", "data-sort": column, click: sort }, words);
      const sorted = order.column !== column ? "none" : order.isDescending ? "descending" : "ascending";
      return h("th", { scope: "col", class: "number", "aria-sort": sorted }, button);
    };
    const [unit, per] = conditions.goal === "time" ? ["time", "operation"] : ["price", "million operations"];
    const ranks = new Map(ranked.map((one, at) => [one.point.id, at + 1]));
    const row = (one: Ranked) =>
      h(
        "tr",
        { class: one.best ? "strong best" : one.tie ? "strong" : one.point.candidate ? null : "dim" },
        h("td", { class: "number" }, String(ranks.get(one.point.id))),
        h("th", { scope: "row" }, h("button", { type: "button", class: "link", click: () => choose(one.point) }, one.point.label)),
        h("td", { class: "number total" }, amount(one.total, one.low, one.high, conditions)),
        h("td", { class: "number" }, ns(one.cost)),
        hasBytes && h("td", { class: "number" }, one.point.bytes === null ? "–" : bytes(one.point.bytes)),
        h("td", {}, noteOf(one, sure)),
      );
    const heads = [
      h("th", { scope: "col", class: "number" }, "rank"),
      h("th", { scope: "col" }, data.noun[0]),
      head("total", `${unit} (95% interval)`),
      head("cost", "CPU time"),
      hasBytes && head("bytes", "bytes"),
      h("th", { scope: "col" }, "note"),
    ];
    const grid = { class: "grid ranking", "aria-label": `Ranking under these conditions, per ${per}` };
    table.replaceChildren(h("table", grid, h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...rows.map(row))));
    more.hidden = ordered.length <= FEW;
    more.textContent = all ? `Show the first ${FEW}` : `Show all ${ordered.length}`;
  }

  const reset = h("button", {
    type: "button",
    click: () => {
      conditions = { ...data.conditions };
      panel.set(conditions);
      show();
    },
  }, "Reset to the study's conditions");
  placeOf("view").replaceChildren(
    h("p", { class: "picker" }, h("label", { for: "group" }, "Measured with"), " ", picker),
    figure,
    filter,
  );
  place.replaceChildren(
    h("h2", {}, "Under your conditions"),
    h("p", { class: "remark" }, "Set your own conditions; the ranking updates. CPU time is measured, transfer time is calculated."),
    best,
    besides,
    spoken,
    h(
      "div",
      { class: "explorer" },
      h("div", { class: "panel" }, panel.element, reset),
      h("div", { class: "ranks" }, table, more, h("p", { class: "remark" }, "The same on the command line:"), shell),
    ),
    drawer,
  );
  place.hidden = false;
  build();

  let last = chartWidth();
  new ResizeObserver(() => {
    const width = chartWidth();
    if (Math.abs(width - last) < 8) return;
    last = width;
    build();
  }).observe(figure);
  window.addEventListener("hashchange", (event) => {
    // As the reader set it: the address of before may have been written meanwhile.
    const text = inAddress(new URL(event.newURL).hash);
    if (text === null) return;
    index = groupIn(text, data.groups.length, data.shown);
    conditions = withText(data.conditions, text);
    panel.set(conditions);
    build();
  });
  // For tests: the ranking that is shown, with every digit.
  Object.defineProperty(window, "weighbridge", {
    value: { ranked: () => rank(data, group(), conditions), index: () => index },
  });
}

function amount(total: number, low: number | null, high: number | null, conditions: Conditions): string {
  return conditions.goal === "time" ? ns(total, low, high) : price(total, low, high);
}

/** Bytes, CPU time and wait of what was chosen first against what is usual, or against the next that costs more. */
function tilesOf(data: Data, group: Group, ranked: Ranked[], conditions: Conditions): HTMLElement[] {
  const best = ranked.filter((one) => one.best);
  const after = data.questions.flatMap(({ scope }) => best.find((one) => one.scopes.includes(scope)) ?? [])[0] ?? best[0];
  const others = ranked.filter((one) => one !== after);
  const before = others.find((one) => one.point.id === group.usual) ?? others.find((one) => !one.tie) ?? others[0];
  if (after === undefined || before === undefined) return [];
  const [cost, total] = compared(data, group, before.point, after.point, conditions);
  const tile = (name: string, of: (one: Ranked) => number, words: (value: number) => string, sure: Sure): Tile => ({
    name,
    before: words(of(before)),
    after: words(of(after)),
    change: sure === "settled" ? percent(of(after) / of(before) - 1) : (sure ?? ""),
  });
  const time = tile("CPU time", (one) => one.cost, (value) => ns(value), cost);
  const what = `${after.point.label} compared with ${before.point.label}`;
  if (data.costs?.bytes != null) {
    const [link] = conditions.links;
    const at = link === undefined || conditions.links.length > 1 ? "" : ` at ${mbit(link.mbit)}`;
    const name = conditions.goal === "time" ? `Wait${at}` : "Cost per million";
    const isKnown = before.point.bytes !== null && after.point.bytes !== null;
    const size = isKnown ? [tile("Bytes", (one) => one.point.bytes ?? NaN, bytes, "settled")] : [];
    return tiles(`${what}:`, [...size, time, tile(name, (one) => one.total, (value) => amount(value, null, null, conditions), total)]);
  }
  // Without bytes, other figures of the same work: about these no verdict is given.
  const [x, y] = [before.point.values, after.point.values];
  const known = data.metrics.filter(({ id }) => x[id] !== undefined && y[id] !== undefined);
  const rate = known.find(({ unit, better }) => better === "more" && ofUnit(unit, 1, null, null).endsWith("per second"));
  const more = [rate, known.find(({ id }) => id.endsWith("-p50"))].flatMap((metric) => metric ?? []);
  const figures = more.map(({ id, unit }) =>
    tile(id.replace("-p50", " median").replaceAll("-", " "), (one) => one.point.values[id]?.[0] ?? NaN, (value) => ofUnit(unit, value, null, null).replace(" per second", "/s"), null),
  );
  return tiles(`${what}:`, [time, ...figures]);
}

/** What the signs of the chart mean. */
function signs(data: Data, conditions: Conditions): HTMLElement[] {
  const same = conditions.goal === "time" ? "same total time" : "same cost";
  const all = [["◆", "recommended"], ["●", "not beaten"], ["◎", "best here"], ["◌", "tied with it"], ["—", "95% interval"]];
  if (data.costs?.bytes != null) all.push(["- -", same]);
  return all.map(([sign, words]) => h("span", {}, h("b", {}, sign), ` ${words}`));
}

function noteOf(one: Ranked, sure: Sure): string {
  const whom = one.scopes.length === 0 ? "" : ` for ${list(one.scopes)}`;
  const notes = [
    one.best ? (sure === FEW_ROUNDS ? `ahead so far${whom}, ${sure}` : `best${whom}`) : one.tie ? "tied" : "",
    ...one.point.marks,
    one.point.candidate ? "" : "given up early",
  ];
  return notes.filter((note) => note !== "").join(", ");
}

/** No ranking is claimed with fewer rounds than the rule needs. */
const FEW_ROUNDS = "too few rounds";

/** What is best here, in a sentence, and what else is worth knowing. */
function answer(ranked: Ranked[], sure: Sure, conditions: Conditions): [string, string] {
  if (ranked.length === 0) return ["No configuration has the figures that a ranking needs.", ""];
  const best = ranked.filter((one) => one.best);
  if (best.length === 0) {
    return ["Nothing can be chosen here.", "Only one configuration was measured, or another one is significantly better in every respect."];
  }
  const per = conditions.goal === "time" ? "per operation" : "per million operations";
  const named = best.map((one) => {
    const whom = best.length > 1 && one.scopes.length > 0 ? ` for ${list(one.scopes)}` : "";
    return `${one.point.label}${whom}, ${amount(one.total, one.low, one.high, conditions)}`;
  });
  if (sure === FEW_ROUNDS) {
    return [`Not settled (too few rounds): so far ${named.join("; ")} ${per}.`, "Bytes are known exactly; times need more rounds."];
  }
  const ties = ranked.filter((one) => one.tie && !one.best).map((one) => one.point.label);
  const rest = ties.length > 0 ? `Tied: ${list(ties)}.` : ranked[0]?.best === true ? "" : "Chosen for all contents of its kind together.";
  return [`Best here: ${named.join("; ")} ${per} (${sure ?? "settled"}).`, rest];
}
