// Failures are as visible as successes: how many, which, why, and what to do.

import type { Data } from "./data";
import { h } from "./dom";

/** Puts them before the explorer. */
export function failures(data: Data, before: HTMLElement): void {
  if (data.faults.length === 0) return;
  const reasons = new Map<string, { cells: string[]; remedy: string | null }>();
  for (const fault of data.faults) {
    const known = reasons.get(fault.reason) ?? { cells: [], remedy: fault.remedy };
    known.cells.push(fault.cell);
    reasons.set(fault.reason, known);
  }
  const items = [...reasons].map(([reason, { cells, remedy }]) =>
    h("li", {}, `${cells.join(", ")}: ${reason}`, remedy !== null && h("span", { class: "remedy" }, ` → ${remedy}`)),
  );
  const many = data.faults.length === 1 ? "1 configuration has no figures" : `${data.faults.length} configurations have no figures`;
  before.before(
    h("details", { id: "failures", class: "failures" }, h("summary", {}, `${many}: why, and what to do`), h("ul", { class: "points" }, ...items)),
  );
}
