// The text of conditions: `goal=time,link=10:40:1,connection=new,reads=10`, in the address of the page and on the command line.

import type { Conditions, LinkShare } from "./data";

/** The largest number that is taken. */
const MOST = 1e9;

function number(text: string | undefined): number | null {
  const value = text === undefined || text.trim() === "" ? NaN : Number(text);
  return value >= 0 && value <= MOST ? value : null;
}

function link(text: string): LinkShare | null {
  const parts = text.split(":");
  const [mbit, rtt_ms, share] = [number(parts[0]), number(parts[1]), parts.length < 3 ? 1 : number(parts[2])];
  if (parts.length > 3 || mbit === null || rtt_ms === null || share === null) return null;
  return mbit > 0 && share > 0 ? { mbit, rtt_ms, share } : null;
}

/** These with what a text changes; what is wrong in it is left out. */
export function withText(usual: Conditions, text: string): Conditions {
  const changed: Conditions = { ...usual, links: [...usual.links] };
  for (const pair of text.split(",")) {
    const at = pair.indexOf("=");
    const [key, value] = [pair.slice(0, at).trim(), pair.slice(at + 1)];
    const amount = number(value);
    if (key === "goal" && (value === "time" || value === "money")) changed.goal = value;
    if (key === "connection" && (value === "warm" || value === "idle" || value === "new")) changed.connection = value;
    if (key === "reads" && amount !== null) changed.reads = amount;
    if (key === "core-hour" && amount !== null) changed.core_hour = amount;
    if (key === "gb" && amount !== null) changed.gb = amount;
    if (key === "second" && amount !== null) changed.second = amount;
    if (key === "link") {
      const links = value.split("+").map(link);
      if (links.every((link): link is LinkShare => link !== null)) changed.links = links;
    }
  }
  return changed;
}

/** The whole text. */
export function textOf(conditions: Conditions): string {
  const links = conditions.links.map((link) => `${link.mbit}:${link.rtt_ms}:${link.share}`).join("+");
  return (
    `goal=${conditions.goal},link=${links},connection=${conditions.connection},reads=${conditions.reads}` +
    `,core-hour=${conditions.core_hour},gb=${conditions.gb},second=${conditions.second}`
  );
}

/** The text in the part of an address after `#`; none if it names a part of the page, or nothing that can be read. */
export function inAddress(hash: string): string | null {
  try {
    const text = decodeURIComponent(hash.replace(/^#/, ""));
    return text.includes("=") ? text : null;
  } catch {
    return null;
  }
}

/** The index of a group in a text; the usual one where it names none. */
export function groupIn(text: string, count: number, usual = 0): number {
  const named = /(?:^|,)group=(\d+)(?:,|$)/.exec(text)?.[1];
  const index = named === undefined ? usual : Number(named);
  return index < count ? index : usual;
}
