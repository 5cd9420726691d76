// Ranks the configurations of a group, as `crates/answer/src/report/ranking.rs`. Both are held together by generated conditions.

import { type Choice, type Confidence, type Cost, choose, differ, totalOf } from "./choose";
import type { Conditions, Data, Group, Point, Question } from "./data";
import { type Estimate, plus, scaled } from "./estimate";
import { meanTransferNs } from "./transfer";

/** The number of operations that a price is for. */
export const OPERATIONS = 1e6;

/** The place of one configuration. Totals are nanoseconds of an operation, or the price of a million. */
export interface Ranked {
  point: Point;
  total: number;
  low: number | null;
  high: number | null;
  /** There is no significant difference to what was chosen. */
  tie: boolean;
  /** It was chosen; several are where several questions are asked. */
  best: boolean;
  /** For whom it was chosen. */
  scopes: string[];
  /** CPU nanoseconds of an operation. */
  cost: number;
}

/** The shares of one write and one read in an operation. */
export function shares(group: Group, conditions: Conditions): [number, number] {
  if (!group.points.some((point) => point.write !== null)) return [0, 1];
  return [1 / (1 + conditions.reads), conditions.reads / (1 + conditions.reads)];
}

/** CPU nanoseconds of an operation; null if a part is needed and missing. */
export function costOf(point: Point, [writes, reads]: [number, number]): Estimate | null {
  const part = (of: Estimate | null, weight: number) => (of === null ? null : scaled(of, weight));
  if (reads === 0) return part(point.write, writes);
  if (writes === 0) return part(point.read, reads);
  const [write, read] = [part(point.write, writes), part(point.read, reads)];
  return write === null || read === null ? null : plus(write, read);
}

/** What a nanosecond of CPU time is worth in the unit of totals, and what a wait and bytes are. */
export function valueOf(conditions: Conditions, waitNs: number, bytes: number): [number, number] {
  if (conditions.goal === "time") return [1, waitNs];
  const known = OPERATIONS * ((conditions.second * waitNs) / 1e9 + (conditions.gb / 1e9) * bytes);
  return [(OPERATIONS * (conditions.second + conditions.core_hour / 3600)) / 1e9, known];
}

/** The known part of a total for this many bytes. */
export function knownOf(data: Data, group: Group, point: Point, conditions: Conditions, bytes: number | null): number {
  const [writes, reads] = shares(group, conditions);
  const transfer = bytes === null ? 0 : meanTransferNs(bytes, conditions, data.sharing);
  const stored = (bytes ?? 0) * (writes * point.stored_write + reads * point.stored_read);
  return valueOf(conditions, transfer + stored, bytes ?? 0)[1];
}

function priced(data: Data, group: Group, point: Point, conditions: Conditions): Cost | null {
  const cost = costOf(point, shares(group, conditions));
  if (cost === null) return null;
  const [perNs] = valueOf(conditions, 0, 0);
  return { varies: scaled(cost, perNs), known: knownOf(data, group, point, conditions, point.bytes) };
}

/** How sure it is that two points differ in CPU time, and in their totals. */
export function compared(data: Data, group: Group, a: Point, b: Point, conditions: Conditions): [Sure, Sure] {
  const totals = [a, b].map((point) => priced(data, group, point, conditions));
  const [x, y] = totals;
  if (!x || !y) return [null, null];
  return [differ({ ...x, known: 0 }, { ...y, known: 0 }, data.rules), differ(x, y, data.rules)];
}

/** What is chosen for one question. */
function answer(data: Data, question: Question, conditions: Conditions, isShown: (point: Point) => boolean): Choice[] {
  const cost = (work: number, at: number | null) => {
    const group = data.groups[question.groups[work] ?? -1];
    const point = at === null ? undefined : group?.points[at];
    if (group === undefined || point === undefined || !point.candidate || !isShown(point)) return null;
    return priced(data, group, point, conditions);
  };
  const candidates = question.alternatives.map(([rank, may, points]) => ({
    costs: points.map((at, work) => (may ? cost(work, at) : null)),
    rank,
  }));
  return choose(candidates, data.rules);
}

/** How sure the choices for a group are. */
export type Sure = Confidence | null;

/** The cheapest first, of those that are shown, and how sure the choice is. Configurations that lack a needed figure are left out. */
export function rank(
  data: Data,
  group: Group,
  conditions: Conditions,
  isShown: (point: Point) => boolean = () => true,
): Ranked[] {
  return rankedAndSure(data, group, conditions, isShown)[0];
}

export function rankedAndSure(
  data: Data,
  group: Group,
  conditions: Conditions,
  isShown: (point: Point) => boolean,
): [Ranked[], Sure] {
  const place = data.groups.indexOf(group);
  const best = new Map<number, string[]>();
  const tied = new Set<number>();
  let sure: Sure = null;
  for (const question of data.questions) {
    const work = question.groups.indexOf(place);
    if (work < 0) continue;
    const choice = answer(data, question, conditions, isShown).find((choice) => choice.works.includes(work));
    if (choice === undefined) continue;
    const pointOf = (one: number) => question.alternatives[one]?.[2][work] ?? null;
    const chosen = pointOf(choice.chosen);
    if (chosen !== null) best.set(chosen, [...(best.get(chosen) ?? []), question.scope]);
    const others = choice.confidence === "too few rounds" ? [] : choice.tied.map(pointOf);
    for (const one of others) if (one !== null) tied.add(one);
    if (sure === null || ORDER.indexOf(choice.confidence) < ORDER.indexOf(sure)) sure = choice.confidence;
  }
  const end = (end: number | null, known: number) => (end === null ? null : end + known);
  const ranked = group.points.flatMap((point, at): Ranked[] => {
    const cost = isShown(point) ? priced(data, group, point, conditions) : null;
    if (cost === null) return [];
    return [
      {
        point,
        total: totalOf(cost),
        low: end(cost.varies.low, cost.known),
        high: end(cost.varies.high, cost.known),
        tie: best.has(at) || tied.has(at),
        best: best.has(at),
        scopes: (best.get(at) ?? []).filter((scope) => scope !== ""),
        cost: costOf(point, shares(group, conditions))?.value ?? 0,
      },
    ];
  });
  ranked.sort((a, b) => a.total - b.total);
  return [ranked, sure];
}

/** From the least sure. */
const ORDER: Confidence[] = ["too few rounds", "tied", "settled"];
