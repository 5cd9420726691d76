// Which group is shown: by what groups differ in (content, server, PHP), or by its whole title.

import type { Group } from "./data";
import { h } from "./dom";

export interface GroupChoice {
  element: HTMLElement;
  /** The list of whole titles. */
  select: HTMLSelectElement;
  set: (index: number) => void;
}

const ANY = "";

/** The values of each factor in which groups differ, in the order of the groups. */
export function differing(groups: Group[]): [string, string[]][] {
  const names = [...new Set(groups.flatMap((group) => group.key.map(([name]) => name)))];
  const values = (name: string) => [...new Set(groups.map((group) => valueOf(group, name)))];
  return names.map((name): [string, string[]] => [name, values(name)]).filter(([, values]) => values.length > 1);
}

function valueOf(group: Group, name: string): string {
  return group.key.find(([known]) => known === name)?.[1] ?? "–";
}

function titleOf(group: Group): string {
  return group.part === null ? group.title : `${group.title} · ${group.part}`;
}

export function groupChoice(groups: Group[], start: number, changed: (index: number) => void): GroupChoice {
  let index = start;
  const select = h("select", { id: "group" });
  const factors = differing(groups);
  // With one factor, the titles tell as much.
  const narrow = (factors.length > 1 ? factors : []).map(([name, values], at) => {
    const of = h("select", { id: `group-${at}` }, h("option", { value: ANY }, "any"));
    of.append(...values.map((value) => h("option", { value }, value)));
    of.addEventListener("change", () => fill(true));
    return { name, of };
  });
  const fits = (group: Group) => narrow.every(({ name, of }) => of.value === ANY || valueOf(group, name) === of.value);

  /** The titles that fit what was chosen; the shown group stays if it fits. */
  function fill(isMoved: boolean): void {
    const fitting = groups.flatMap((group, at) => (fits(group) ? [at] : []));
    select.replaceChildren(...fitting.map((at) => h("option", { value: at }, titleOf(groups[at] as Group))));
    const first = fitting[0];
    if (first === undefined) select.append(h("option", { value: index }, "none was measured"));
    if (!fitting.includes(index) && first !== undefined && isMoved) {
      index = first;
      changed(index);
    }
    select.value = String(index);
  }

  select.addEventListener("change", () => {
    index = Number(select.value);
    changed(index);
  });
  fill(false);
  const element = h(
    "div",
    { class: "choose" },
    ...narrow.flatMap(({ name, of }) => [h("label", { for: of.id }, name.charAt(0).toUpperCase() + name.slice(1)), of]),
    h("label", { for: "group" }, narrow.length > 0 ? "Comparison" : "Content"),
    select,
  );
  const set = (now: number) => {
    index = now;
    const shown = groups[now];
    if (shown !== undefined && !fits(shown)) for (const { of } of narrow) of.value = ANY;
    fill(false);
  };
  return { element, select, set };
}
