// Figures before and after, as `page/markup.rs` writes those of an advice.

import { h } from "./dom";

export interface Tile {
  name: string;
  before: string;
  after: string;
  change: string;
}

/** Less is better of everything whose change is given. */
const toneOf = (change: string) => (change.startsWith("−") ? "good" : /^\d|^\+/.test(change) ? "bad" : "");

export function tiles(what: string, all: Tile[]): HTMLElement[] {
  const one = ({ name, before, after, change }: Tile) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, `${before} → `, h("b", {}, after)), h("dd", { class: `change ${toneOf(change)}` }, change));
  return [h("p", { class: "remark" }, what), h("dl", { class: "tiles" }, ...all.map(one))];
}
