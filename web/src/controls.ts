// The conditions as sliders, fields and choices. Each slider has its value as text and as a number to type.

import type { Conditions, Data, LinkShare } from "./data";
import { h } from "./dom";
import { mbit, significant, trimmed } from "./format";

/** Steps of a slider on a logarithmic scale. */
const STEPS = 400;

interface Slider {
  element: HTMLElement;
  /** Shows a value, with other words than its own if they are given. */
  set: (value: number, words?: string) => void;
}

interface Scale {
  label: string;
  unit: string;
  low: number;
  high: number;
  /** Below `low` stands zero. */
  zero?: boolean;
  words: (value: number) => string;
}

let identifiers = 0;

function slider(scale: Scale, value: number, changed: (value: number) => void): Slider {
  const id = `slider-${++identifiers}`;
  const first = scale.zero ? 1 : 0;
  const ratio = Math.log(scale.high / scale.low);
  const place = (value: number) =>
    value < scale.low ? 0 : Math.round(first + (Math.log(value / scale.low) / ratio) * STEPS);
  // As a field shows it, so that what is typed and what is slid to can be the same.
  const amount = (place: number) =>
    scale.zero && place < first ? 0 : Number((scale.low * Math.exp(((place - first) / STEPS) * ratio)).toPrecision(3));
  const range = h("input", { type: "range", id, min: 0, max: STEPS + first, step: 1 });
  const field = h("input", {
    type: "number",
    min: 0,
    step: "any",
    "aria-label": `${scale.label}${scale.unit === "" ? "" : ` in ${scale.unit}`}`,
  });
  const words = h("output", { for: id });
  const show = (value: number, told = scale.words(value)) => {
    range.value = String(Math.min(Math.max(place(value), 0), STEPS + first));
    range.setAttribute("aria-valuetext", told);
    // What is being typed stays as it is.
    if (document.activeElement !== field) {
      field.value = String(value);
      field.removeAttribute("aria-invalid");
    }
    words.textContent = told;
  };
  range.addEventListener("input", () => {
    const value = amount(Number(range.value));
    show(value);
    changed(value);
  });
  field.addEventListener("input", () => {
    const value = field.value === "" ? NaN : Number(field.value);
    const isPossible = value >= 0 && value <= 1e9 && (scale.zero || value > 0);
    field.setAttribute("aria-invalid", String(!isPossible));
    if (!isPossible) return;
    show(value);
    changed(value);
  });
  show(value);
  const element = h(
    "div",
    { class: "slider" },
    h("label", { for: id }, scale.label),
    words,
    range,
    field,
  );
  return { element, set: (value, words) => show(value, words) };
}

function choice<T extends string>(
  legend: string,
  choices: [T, string][],
  value: T,
  changed: (value: T) => void,
): { element: HTMLElement; set: (value: T) => void } {
  const name = `choice-${++identifiers}`;
  const inputs = choices.map(([value]) => h("input", { type: "radio", name, value, change: () => changed(value) }));
  const set = (value: T) => inputs.forEach((input) => (input.checked = input.value === value));
  set(value);
  const labels = choices.map(([, words], at) => h("label", {}, inputs[at], h("span", {}, words)));
  return { element: h("fieldset", { class: "choice" }, h("legend", {}, legend), ...labels), set };
}

/** The controls; `changed` gets new conditions after every move. */
export interface Controls {
  element: HTMLElement;
  set: (conditions: Conditions) => void;
}

export function controls(data: Data, start: Conditions, changed: (conditions: Conditions) => void): Controls {
  let now = start;
  const change = (part: Partial<Conditions>) => {
    now = { ...now, ...part };
    prices.hidden = now.goal === "time";
    changed(now);
  };
  const first = () => now.links[0] ?? { mbit: 10, rtt_ms: 40, share: 1 };
  const one = (part: Partial<LinkShare>) => {
    change({ links: [{ ...first(), share: 1, ...part }] });
    showLinks();
  };
  const goal = choice("Optimise for", [["time", "waiting time"], ["money", "cost"]], now.goal, (goal) =>
    change({ goal }),
  );
  const speed = slider(
    { label: "Link speed", unit: "Mbit/s", low: 0.05, high: 10_000, words: mbit },
    first().mbit,
    (mbit) => one({ mbit }),
  );
  const trip = slider(
    { label: "Round trip", unit: "ms", low: 0.01, high: 1000, zero: true, words: (ms) => `${trimmed(ms)}\u00a0ms` },
    first().rtt_ms,
    (rtt_ms) => one({ rtt_ms }),
  );
  const preset = h("select", { id: "preset" });
  preset.append(h("option", { value: "" }, "your own"));
  data.links.forEach((link, at) =>
    preset.append(h("option", { value: at }, `${link.name} (${mbit(link.mbit)}, ${trimmed(link.rtt_ms)} ms)`)),
  );
  preset.addEventListener("change", () => {
    const link = data.links[Number(preset.value)];
    if (preset.value === "" || link === undefined) return;
    one({ mbit: link.mbit, rtt_ms: link.rtt_ms });
  });
  const mix = visitors(data, (links) => {
    change({ links });
    showOneLink();
  });
  /** One link stands in the sliders and, if it is typical, in the list. Of several, the sliders say only that. */
  const showOneLink = () => {
    const words = now.links.length > 1 ? `${now.links.length} links` : undefined;
    speed.set(first().mbit, words);
    trip.set(first().rtt_ms, words);
    const at = data.links.findIndex((link) => isSame(link, first()));
    preset.value = at < 0 || now.links.length > 1 ? "" : String(at);
  };
  const showLinks = () => {
    showOneLink();
    mix.set(now.links);
  };
  const connection = choice(
    "Connection",
    [["warm", "warm"], ["idle", "idle"], ["new", "new"]],
    now.connection,
    (connection) => change({ connection }),
  );
  const reads = slider(
    { label: "Reads per write", unit: "", low: 0.01, high: 100_000, zero: true, words: trimmed },
    now.reads,
    (reads) => change({ reads }),
  );
  const hasBytes = data.costs?.bytes != null;
  const amount = (label: string, high: number, value: number, changed: (value: number) => void) =>
    slider({ label, unit: "your currency", low: high / 1e5, high, zero: true, words: significant }, value, changed);
  const core = amount("A core for an hour", 10, now.core_hour, (core_hour) => change({ core_hour }));
  const gb = amount("A GB sent", 10, now.gb, (gb) => change({ gb }));
  const second = amount("A second that a visitor waits", 0.1, now.second, (second) => change({ second }));
  const prices = h("fieldset", {}, h("legend", {}, "Prices"), core.element, hasBytes && gb.element, second.element);
  prices.hidden = now.goal === "time";
  const link = h(
    "fieldset",
    {},
    h("legend", {}, "Link"),
    h("div", { class: "preset" }, h("label", { for: "preset" }, "Typical link"), preset),
    speed.element,
    trip.element,
    mix.element,
  );
  const element = h(
    "div",
    { class: "controls" },
    goal.element,
    hasBytes && link,
    hasBytes && connection.element,
    data.costs?.write != null && h("fieldset", {}, h("legend", {}, "Use"), reads.element),
    prices,
  );
  const set = (conditions: Conditions) => {
    now = conditions;
    goal.set(now.goal);
    connection.set(now.connection);
    reads.set(now.reads);
    core.set(now.core_hour);
    gb.set(now.gb);
    second.set(now.second);
    showLinks();
    prices.hidden = now.goal === "time";
  };
  set(start);
  return { element, set };
}

const isSame = (a: { mbit: number; rtt_ms: number }, b: { mbit: number; rtt_ms: number }) =>
  a.mbit === b.mbit && a.rtt_ms === b.rtt_ms;

/** Visitors by link: a share for each typical link, and for each that conditions name besides. */
function visitors(data: Data, changed: (links: LinkShare[]) => void) {
  interface Row {
    link: { name: string; mbit: number; rtt_ms: number };
    range: HTMLInputElement;
    words: HTMLOutputElement;
    element: HTMLElement;
  }
  let rows: Row[] = [];
  const row = (link: Row["link"]): Row => {
    const id = `slider-${++identifiers}`;
    const range = h("input", { type: "range", id, min: 0, max: 100, step: "any", value: 0, input: () => moved() });
    const words = h("output", { for: id });
    const element = h("div", { class: "slider" }, h("label", { for: id }, link.name), words, range);
    return { link, range, words, element };
  };
  const show = () => {
    const all = rows.reduce((sum, row) => sum + Number(row.range.value), 0);
    for (const row of rows) {
      const share = all === 0 ? 0 : (100 * Number(row.range.value)) / all;
      row.words.textContent = `${Math.round(share)}%`;
      row.range.setAttribute("aria-valuetext", `${Math.round(share)}% of visitors`);
    }
  };
  const moved = () => {
    show();
    const links = rows.map(({ link, range }) => ({
      mbit: link.mbit,
      rtt_ms: link.rtt_ms,
      share: Number(Number(range.value).toPrecision(3)),
    }));
    const used = links.filter((link) => link.share > 0);
    if (used.length > 0) changed(used);
  };
  const place = h("div");
  const element = h("details", { class: "mix" }, h("summary", {}, "Visitors on several links"), place);
  const put = (links: LinkShare[]) => {
    const named = data.links.filter((link, at) => data.links.findIndex((other) => isSame(other, link)) === at);
    const others = links.filter((link) => links.length > 1 && !named.some((other) => isSame(other, link)));
    const own = others.map((link) => ({ ...link, name: `${mbit(link.mbit)}, ${trimmed(link.rtt_ms)} ms` }));
    const wanted = [...named, ...own];
    if (wanted.length !== rows.length || !wanted.every((link, at) => rows[at] !== undefined && isSame(link, rows[at].link))) {
      rows = wanted.map(row);
      place.replaceChildren(...rows.map((row) => row.element));
    }
    const all = links.reduce((sum, link) => sum + link.share, 0);
    for (const row of rows) {
      const share = links.filter((link) => isSame(link, row.link)).reduce((sum, link) => sum + link.share, 0);
      row.range.value = String((100 * share) / all);
    }
    if (links.length > 1) element.open = true;
    show();
  };
  return { element, set: put };
}
