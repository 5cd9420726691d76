// Ranks the configurations of a group, as `crates/answer/src/ranking.rs`. Both are held together by generated conditions.

import type { Conditions, Data, Group, Point } from "./data";
import { type Estimate, isTotalLess, plus, scaled } from "./estimate";
import { meanTransferNs } from "./transfer";

/** The number of operations that a price is for. */
export const OPERATIONS = 1e6;

/** The place of one configuration. Totals are nanoseconds of an operation, or the price of a million. */
export interface Ranked {
  point: Point;
  total: number;
  low: number | null;
  high: number | null;
  tie: boolean;
  best: boolean;
  /** CPU nanoseconds of an operation. */
  cost: number;
}

interface Total {
  point: Point;
  varies: Estimate;
  known: number;
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

function totalOf(data: Data, group: Group, point: Point, conditions: Conditions): Total | null {
  const cost = costOf(point, shares(group, conditions));
  if (cost === null) return null;
  const [perNs] = valueOf(conditions, 0, 0);
  const known = knownOf(data, group, point, conditions, point.bytes);
  return { point, varies: scaled(cost, perNs), known, cost: cost.value };
}

function isLess(a: Total, b: Total, data: Data): boolean {
  if (a.varies.value === 0 && b.varies.value === 0) return a.known < b.known;
  return isTotalLess([a.varies, a.known], [b.varies, b.known], data.rules);
}

/** The cheapest first, of those that are chosen. Configurations that lack a needed figure are left out. */
export function rank(
  data: Data,
  group: Group,
  conditions: Conditions,
  isChosen: (point: Point) => boolean = () => true,
): Ranked[] {
  const value = (total: Total) => total.varies.value + total.known;
  const totals = group.points.filter(isChosen).flatMap((point) => totalOf(data, group, point, conditions) ?? []);
  totals.sort((a, b) => value(a) - value(b));
  const best = totals.find((total) => total.point.candidate);
  const end = (end: number | null, known: number) => (end === null ? null : end + known);
  return totals.map((total) => ({
    point: total.point,
    total: value(total),
    low: end(total.varies.low, total.known),
    high: end(total.varies.high, total.known),
    tie: total.point.candidate && best !== undefined && !isLess(best, total, data),
    best: total === best,
    cost: total.cost,
  }));
}
