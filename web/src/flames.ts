// Flame graphs of profiles: call paths from the top down, as wide as what they cost. A frame that is chosen takes the whole width.

import type { Flame } from "./data";
import { h, s } from "./dom";
import { ofUnit } from "./format";

const ROW = 20;
/** Frames narrower than this many pixels are not drawn. */
const LEAST = 1.5;
/** About the width of a character. */
const CHARACTER = 6.6;
/** Rows of the table. */
const ROWS = 30;

interface Frame {
  at: number;
  depth: number;
  /** Where it starts and how wide it is, in the unit of the profile. */
  from: number;
  cost: number;
}

/** Puts the profiles before the end of the page. */
export function flames(profiles: Flame[], place: HTMLElement): void {
  if (profiles.length === 0) return;
  const one = (flame: Flame) => {
    const content = h("div");
    const details = h("details", { class: "flame" }, h("summary", {}, flame.name), content);
    // What is folded is not drawn.
    details.addEventListener("toggle", () => details.open && content.childElementCount === 0 && draw(flame, content));
    return details;
  };
  const section = h(
    "section",
    { id: "flames", class: "part", "aria-labelledby": "flames-title" },
    h("h2", { id: "flames-title" }, "Profiles"),
    h(
      "p",
      { class: "remark" },
      "Where PHP spends its time. A frame is as wide as what the function costs with everything that it calls; below it is what it calls. " +
        "Choose a frame to see it over the whole width. A profiler slows calls down unequally: read shares, not speeds.",
    ),
    ...profiles.map(one),
  );
  place.append(section);
  const only = section.querySelector("details");
  if (profiles.length === 1 && only !== null) only.open = true;
}

function amountOf(flame: Flame, cost: number): string {
  const share = `${((100 * cost) / flame.total).toFixed(1)}%`;
  const amount = flame.unit === "ns" ? ofUnit("ns", cost, null, null) : `${ofUnit("count", cost, cost, cost)} ${flame.unit}`;
  return `${amount}, ${share}`;
}

function nameOf(flame: Flame, at: number): string {
  return flame.functions[flame.paths[at]?.[1] ?? -1]?.[0] ?? "?";
}

/** Where each path stands: those of one caller side by side. */
function frames(flame: Flame): Frame[] {
  const next = new Map<number, number>();
  const placed: Frame[] = [];
  flame.paths.forEach(([parent, , cost], at) => {
    const above = placed[parent];
    const from = next.get(parent) ?? above?.from ?? 0;
    next.set(parent, from + cost);
    placed.push({ at, depth: above === undefined ? 0 : above.depth + 1, from, cost });
  });
  return placed;
}

function draw(flame: Flame, place: HTMLElement): void {
  const placed = frames(flame);
  const figure = h("figure");
  const told = h("p", { class: "remark", role: "status" });
  const back = h("button", { type: "button", click: () => zoom(null) }, "Show everything");
  const above = (frame: Frame) => placed[flame.paths[frame.at]?.[0] ?? -1];

  const zoom = (to: Frame | null, isFocused = false) => {
    const [from, cost] = to === null ? [0, flame.total] : [to.from, to.cost];
    const width = Math.max(Math.floor(figure.clientWidth || place.clientWidth || 320), 280);
    const scale = width / cost;
    // The callers of what is chosen are as wide as all of it.
    const callers = new Set<number>();
    for (let one = to === null ? undefined : above(to); one !== undefined; one = above(one)) callers.add(one.at);
    const shown = placed.filter((one) =>
      callers.has(one.at) || (one.cost * scale >= LEAST && one.from >= from && one.from + one.cost <= from + cost && (to === null || one.depth >= to.depth)),
    );
    const depth = Math.max(...shown.map((one) => one.depth)) + 1;
    const marks = new Map<number, SVGGElement>();
    // Names are cut where there is no room; the frames have them whole.
    const labels = s("g", { "aria-hidden": "true" });
    const frame = (one: Frame) => {
      const [x, wide] = callers.has(one.at) ? [0, width] : [(one.from - from) * scale, one.cost * scale];
      const name = nameOf(flame, one.at);
      const kind = flame.functions[flame.paths[one.at]?.[1] ?? -1]?.[1] ?? "own";
      const room = Math.floor((wide - 6) / CHARACTER);
      const words = room < 3 ? "" : name.length > room ? `${name.slice(0, room - 1)}…` : name;
      const mark = s(
        "g",
        {
          class: `frame ${kind}`,
          role: "button",
          tabindex: "-1",
          "aria-label": `${name}: ${amountOf(flame, one.cost)}`,
          click: () => zoom(one.depth === 0 && to === null ? null : one, true),
          focus: () => (told.textContent = `${name}: ${amountOf(flame, one.cost)}`),
          pointerenter: () => (told.textContent = `${name}: ${amountOf(flame, one.cost)}`),
          keydown: (event: Event) => {
            const { key } = event as KeyboardEvent;
            if (key === "Enter" || key === " ") zoom(one, true);
            else if (key === "Escape") zoom(null, true);
            else if (!key.startsWith("Arrow") || !step(one, key, shown, marks)) return;
            event.preventDefault();
          },
        },
        s("rect", { x: x.toFixed(2), y: one.depth * ROW, width: Math.max(wide - 0.6, 0.6).toFixed(2), height: ROW - 1 }),
        s("title", {}, `${name}: ${amountOf(flame, one.cost)}`),
      );
      marks.set(one.at, mark);
      if (words !== "") labels.append(s("text", { x: (x + 4).toFixed(2), y: one.depth * ROW + 14 }, words));
      return mark;
    };
    const drawn = s(
      "svg",
      { width, height: depth * ROW, viewBox: `0 0 ${width} ${depth * ROW}`, role: "group", "aria-label": `Flame graph of ${flame.name}. The table below has the same figures.` },
      ...shown.map(frame),
      labels,
    );
    const first = marks.get(to?.at ?? shown[0]?.at ?? 0);
    first?.setAttribute("tabindex", "0");
    figure.replaceChildren(drawn);
    back.hidden = to === null;
    told.textContent = to === null ? `${flame.paths.length} call paths; ${amountOf(flame, flame.total)} in all.` : `${nameOf(flame, to.at)}: ${amountOf(flame, to.cost)}`;
    if (isFocused) first?.focus();
  };
  /** Moves the focus: down to what is called, up to the caller, and to the neighbours. */
  const step = (from: Frame, key: string, shown: Frame[], marks: Map<number, SVGGElement>): boolean => {
    const row = shown.filter((one) => one.depth === from.depth).sort((a, b) => a.from - b.from);
    const at = row.indexOf(from);
    const to =
      key === "ArrowUp" ? above(from)
      : key === "ArrowDown" ? shown.filter((one) => above(one) === from).sort((a, b) => b.cost - a.cost)[0]
      : row[at + (key === "ArrowRight" ? 1 : -1)];
    const mark = to === undefined ? undefined : marks.get(to.at);
    if (mark === undefined) return false;
    marks.get(from.at)?.setAttribute("tabindex", "-1");
    mark.setAttribute("tabindex", "0");
    mark.focus();
    return true;
  };
  const left = flame.left_out === 0 ? "" : ` ${flame.left_out} narrow paths are left out; their callers include them.`;
  place.replaceChildren(
    h("p", { class: "remark" }, `${flame.about === "" ? "" : `${flame.about}. `}Orange: the script's own functions; blue: PHP's; grey: files.${left}`),
    figure,
    told,
    back,
    h("details", {}, h("summary", {}, "The costliest functions as a table"), table(flame)),
  );
  zoom(null);
}

/** Functions by what they cost themselves. */
function table(flame: Flame): HTMLElement {
  const own = flame.paths.map(([, , cost]) => cost);
  flame.paths.forEach(([parent, , cost]) => {
    if (parent >= 0) own[parent] = (own[parent] ?? 0) - cost;
  });
  const sums = flame.functions.map(() => 0);
  flame.paths.forEach(([, of], at) => (sums[of] = (sums[of] ?? 0) + (own[at] ?? 0)));
  const rows = sums.map((cost, of) => ({ name: flame.functions[of]?.[0] ?? "?", cost })).sort((a, b) => b.cost - a.cost).slice(0, ROWS);
  return h(
    "div",
    { class: "scroll", role: "region", "aria-label": `Functions of ${flame.name}`, tabindex: "0" },
    h(
      "table",
      { class: "grid" },
      h("caption", {}, "Cost without what a function calls; narrow paths count for their callers"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "function"), h("th", { scope: "col", class: "number" }, "cost"))),
      h("tbody", {}, ...rows.map(({ name, cost }) => h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "number" }, amountOf(flame, cost))))),
    ),
  );
}
