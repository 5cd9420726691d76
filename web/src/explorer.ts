// The reader's own conditions: controls, chart, ranking and the details of one configuration, all following one state.

import { groupIn, inAddress, textOf, withText } from "./conditions";
import { controls } from "./controls";
import type { Conditions, Data, Group, Point } from "./data";
import { detail } from "./detail";
import { copyButton, h } from "./dom";
import { groupChoice } from "./groups";
import { bytes, list, mbit as speed, ns, price, trimmed } from "./format";
import { type Ranked, type Sure, rank, rankedAndSure } from "./ranking";
import { type Scatter, scatter } from "./scatter";

/** Rows of the ranking that are shown at first. */
const FEW = 10;
/** Milliseconds after the last move before the best is announced, and before the address is changed. */
const CALM = 400;
/** A table with more rows than this follows when the slider rests: its layout takes longer than a frame. */
const LONG = 50;
/** Milliseconds without a move after which a slider rests. */
const REST = 60;

type Column = "total" | "cost" | "bytes";
interface Order {
  column: Column;
  isDescending: boolean;
}

/** Fills the place of the explorer. */
export function explorer(data: Data, place: HTMLElement): void {
  const groups = data.groups.filter((group) => group.points.length > 0);
  if (groups.length === 0 || data.costs === null) return;
  const start = inAddress(location.hash) ?? "";
  let index = groupIn(start, data.groups.length);
  let conditions = withText(data.conditions, start);
  let written = address();
  let families = new Set<string>();
  let all = false;
  let order: Order = { column: "total", isDescending: false };
  let chart: Scatter | null = null;
  let selected: Point | null = null;
  let origin: Element | null = null;
  let timer = 0;
  let resting = 0;

  const group = (): Group => data.groups[index] ?? (groups[0] as Group);
  const best = h("p", { class: "verdict" });
  const besides = h("p", { class: "besides" });
  // On paper, for the controls.
  const printed = h("p", { class: "remark printed" });
  const spoken = h("p", { class: "hidden", role: "status", "aria-live": "polite" });
  const figure = h("figure", { class: "scatter" });
  const legend = h("figcaption");
  const table = h("div", { class: "scroll", role: "region", "aria-label": "Ranking", tabindex: "0" });
  const more = h("button", { type: "button", click: () => ((all = !all), show()) });
  const details = h("div", { class: "details" });
  const command = h("code");
  const filter = h("fieldset", { class: "families" });
  const panel = controls(data, conditions, (changed) => {
    conditions = changed;
    show();
  });
  const choice = groupChoice(data.groups, index, (chosen) => {
    index = chosen;
    selected = null;
    build();
  });

  const chartWidth = () => Math.max(Math.floor(figure.clientWidth || 320), 280);
  const isChosen = (point: Point) => families.size === 0 || families.has(point.family);

  /** A group was chosen, or the width changed. */
  function build(): void {
    choice.set(index);
    const names = [...new Set(group().points.map((point) => point.family))].sort();
    families = new Set([...families].filter((name) => names.includes(name)));
    filter.hidden = names.length < 2;
    filter.replaceChildren(
      h("legend", {}, "Show only"),
      ...names.map((name) => {
        const input = h("input", { type: "checkbox", value: name });
        input.checked = families.has(name);
        input.addEventListener("change", () => {
          if (input.checked) families.add(name);
          else families.delete(name);
          show();
        });
        return h("label", {}, input, h("span", {}, name));
      }),
    );
    chart = data.costs?.bytes == null ? null : scatter(data, group(), chartWidth(), choose);
    figure.replaceChildren(...(chart === null ? [] : [chart.element, legend]));
    showDetail();
    show();
  }

  function choose(point: Point): void {
    selected = point;
    origin = document.activeElement;
    showDetail();
    chart?.select(point.id);
    document.getElementById("detail")?.focus();
  }

  function showDetail(): void {
    const close = () => {
      selected = null;
      showDetail();
      chart?.select(null);
      // Back to where the configuration was chosen.
      const back = origin instanceof HTMLElement || origin instanceof SVGElement ? origin : choice.select;
      (back.isConnected ? back : choice.select).focus();
    };
    const width = Math.min(chartWidth(), 460);
    details.replaceChildren(...(selected === null ? [] : [detail(data, selected, width, close)]));
  }

  function address(): string {
    return `${textOf(conditions)},group=${index}`;
  }

  /** The conditions changed: everything that follows from them. */
  function show(): void {
    const [ranked, sure] = rankedAndSure(data, group(), conditions, isChosen);
    chart?.update(ranked, conditions);
    chart?.select(selected?.id ?? null);
    const [first, rest] = answer(ranked, sure, conditions);
    best.textContent = first;
    besides.textContent = rest;
    legend.textContent = legendOf(conditions);
    printed.textContent = `${group().title}. ${inWords(data, conditions)}`;
    clearTimeout(resting);
    if (all && ranked.length > LONG) resting = window.setTimeout(() => showTable(ranked, sure), REST);
    else showTable(ranked, sure);
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
    const row = (one: Ranked) => {
      const pick = h(
        "button",
        { type: "button", class: "link", click: () => choose(one.point) },
        one.point.label,
      );
      return h(
        "tr",
        { class: one.best ? "strong best" : one.tie ? "strong" : one.point.candidate ? null : "dim" },
        h("td", { class: "number" }, String(ranks.get(one.point.id))),
        h("th", { scope: "row" }, pick),
        h("td", { class: "number total" }, amount(one.total, one.low, one.high, conditions)),
        h("td", { class: "number" }, ns(one.cost)),
        hasBytes && h("td", { class: "number" }, one.point.bytes === null ? "–" : bytes(one.point.bytes)),
        h("td", {}, noteOf(one, sure)),
      );
    };
    table.replaceChildren(
      h(
        "table",
        { class: "grid ranking" },
        h("caption", {}, `Ranking under these conditions, per ${per}`),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col", class: "number" }, "rank"),
            h("th", { scope: "col" }, data.noun[0]),
            head("total", `${unit} (95% interval)`),
            head("cost", "CPU time"),
            hasBytes && head("bytes", "bytes"),
            h("th", { scope: "col" }, "note"),
          ),
        ),
        h("tbody", {}, ...rows.map(row)),
      ),
    );
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
  const aside = h(
    "div",
    { class: "panel" },
    choice.element,
    panel.element,
    filter,
    reset,
  );
  const view = h(
    "div",
    { class: "view" },
    figure,
    table,
    more,
    details,
    h("p", { class: "remark" }, "The same on the command line:"),
    h("pre", { class: "literal" }, command, copyButton(() => command.textContent ?? "")),
  );
  place.replaceChildren(
    h("h2", {}, "Under your conditions"),
    h(
      "p",
      { class: "remark" },
      "Move what is different for you: the ranking follows, by the same rules as the analysis. CPU times are measured; the time on the link is computed.",
    ),
    printed,
    best,
    besides,
    spoken,
    h("div", { class: "explorer" }, aside, view),
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
  window.addEventListener("hashchange", () => {
    const text = inAddress(location.hash);
    if (text === null) return;
    index = groupIn(text, data.groups.length);
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
  return [`Best here: ${named.join("; ")} ${per} (${sure ?? "settled"}).`, ties.length === 0 ? "" : `Tied: ${list(ties)}.`];
}

/** The conditions in a sentence or two. */
function inWords(data: Data, conditions: Conditions): string {
  const link = ({ mbit, rtt_ms, share }: Conditions["links"][number]) => {
    const all = conditions.links.reduce((sum, one) => sum + one.share, 0);
    const part = conditions.links.length > 1 ? ` (${Math.round((100 * share) / all)}% of visitors)` : "";
    return `${speed(mbit)} with ${trimmed(rtt_ms)} ms${part}`;
  };
  const connections = { warm: "kept and busy", idle: "kept and idle", new: "new" };
  const money = `Least cost, with prices of ${conditions.core_hour} per core-hour, ${conditions.gb} per GB and ${conditions.second} per second of waiting`;
  const parts = [
    conditions.goal === "time" ? "Least time" : money,
    data.costs?.bytes != null && `link: ${list(conditions.links.map(link), 9)}`,
    data.costs?.bytes != null && `connections: ${connections[conditions.connection]}`,
    data.costs?.write != null && `${trimmed(conditions.reads)} reads per write`,
  ];
  return `${parts.filter((part) => part !== false).join("; ")}.`;
}

function legendOf(conditions: Conditions): string {
  const least = conditions.goal === "time" ? "takes as long" : "costs as much";
  return (
    `Along the dashed curve an operation ${least} as with the best; what lies below or left of it would be better. ` +
    "Filled points are on the Pareto front, diamonds are recommended, rings mark the best (full) and what is tied with it (dotted). " +
    "Lines through points are 95% intervals."
  );
}
