// Arithmetic with estimates, as `crates/answer/src/estimate.rs`, and the comparison of two, as `verdict.rs` and the files `noise.rs`,
// `contrast.rs`, `density.rs` and `exact.rs` of the crate `weigh-stats`.

import type { Density, Observed, Rule } from "./data";

/** An estimate in the making: `metric` names the rule of its comparisons. */
export type Estimate = Observed;

const MEDIAN = 0.5;
export function scaled(of: Estimate, factor: number): Estimate {
  const end = (end: number | null) => (end === null ? null : end * factor);
  const rounds = of.rounds.map(([round, amount]): [number, number] => [round, amount * factor]);
  return { ...of, value: of.value * factor, low: end(of.low), high: end(of.high), rounds };
}

/** The sum; comparisons use the rounds that both have, and the rule of the larger. */
export function plus(a: Estimate, b: Estimate): Estimate {
  const sum = (a: number | null, b: number | null) => (a === null || b === null ? null : a + b);
  const larger = a.value >= b.value ? a : b;
  const rounds =
    a.rounds.length === 0 || b.rounds.length === 0
      ? []
      : common(a.rounds, b.rounds).map(([round, x, y]): [number, number] => [round, x + y]);
  return {
    value: a.value + b.value,
    low: sum(a.low, b.low),
    high: sum(a.high, b.high),
    metric: larger.metric,
    quantile: a.quantile,
    rounds,
  };
}

/** (round, a, b) of the rounds that both have; both ascend. */
function common(a: [number, number][], b: [number, number][]): [number, number, number][] {
  const other = new Map(b);
  return a.flatMap(([round, x]): [number, number, number][] => {
    const y = other.get(round);
    return y === undefined ? [] : [[round, x, y]];
  });
}

/** The number of rounds that both have. */
export function commonRounds(a: Estimate, b: Estimate): number {
  return common(a.rounds, b.rounds).length;
}

function quantile(values: number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = p * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? NaN;
  const above = sorted[Math.ceil(at)] ?? NaN;
  const part = at - Math.floor(at);
  if (part === 0.5) return below / 2 + above / 2;
  return Math.min(Math.max(below + (above - below) * part, below), above);
}

const ascending = (values: number[]): number[] => [...values].sort((a, b) => a - b);

/** The least width of the noise of a configuration, of the usual one. */
const LEAST_WIDTH = 0.1;

/** The width of the narrowest interval that holds half of ascending values. */
function spreadOf(sorted: number[]): number {
  const half = Math.ceil(sorted.length / 2);
  const widths = sorted.slice(half - 1).map((last, at) => last - (sorted[at] ?? NaN));
  return Math.min(...widths);
}

function densityAt(of: Density, x: number): number {
  const place = (x - of.from) / of.step;
  const least = of.logs[0] ?? NaN;
  if (!(place >= 0 && place < of.logs.length - 1)) return least;
  const below = Math.floor(place);
  const low = of.logs[below] ?? NaN;
  return low + ((of.logs[below + 1] ?? NaN) - low) * (place - below);
}

/** Where rounds, in ascending order, are most likely, if their noise is `scale` times as wide. */
function levelOf(density: Density, sorted: number[], scale: number): number {
  const least = sorted[0] ?? NaN;
  if (density.logs.length === 0) return least - density.from * scale;
  const likelihood = (level: number) => sorted.reduce((sum, x) => sum + densityAt(density, (x - level) / scale), 0);
  let best = { likelihood: -Infinity, level: least };
  const look = (level: number): boolean => {
    const own = likelihood(level);
    const isBetter = own > best.likelihood;
    if (isBetter) best = { likelihood: own, level };
    return isBetter;
  };
  for (const x of sorted) for (const peak of density.peaks) look(x - peak * scale);
  // Uphill from there, first in steps of the grid.
  for (const part of [1, 0.25, 0.0625]) {
    const step = density.step * scale * part;
    while (look(best.level + step) || look(best.level - step));
  }
  return best.level;
}

/** The shift of two, as logarithms of their rounds: the smaller of the difference of the figures and that of the levels. */
function shiftOf(figure: number, level: number): number {
  if (!(figure * level > 0)) return 0;
  return Math.abs(figure) < Math.abs(level) ? figure : level;
}

/** The rounds from which an exact test is by signs within rounds, and the most rounds of one. */
const [PAIRED, MOST] = [8, 36];

/** By the number of differences on the other side, the probability of at most as many, to both sides. */
function tailsOf(rounds: number): number[] {
  if (rounds > MOST) return [];
  const isPaired = rounds >= PAIRED;
  const differences = isPaired ? (rounds * (rounds + 1)) / 2 : rounds * rounds;
  const orders: number[] = Array.from({ length: differences + 1 }, (_, at) => (at === 0 ? 1 : 0));
  const add = (at: number, of: number) => (orders[at] = (orders[at] ?? 0) + of);
  for (let rank = 1; rank <= rounds; rank++) {
    if (isPaired) {
      for (let at = differences; at >= rank; at--) add(at, orders[at - rank] ?? 0);
    } else {
      for (let at = differences; at >= rounds + rank; at--) add(at, -(orders[at - rounds - rank] ?? 0));
      for (let at = rank; at <= differences; at++) add(at, orders[at - rank] ?? 0);
    }
  }
  const all = orders.reduce((sum, of) => sum + of, 0);
  let sum = 0;
  return orders.map((of) => (sum += (2 * of) / all));
}

/** The sign of first − second by an exact test at the level `p`: 0 if it finds no difference. */
function exactSign(first: number[], second: number[], p: number): number {
  const few = tailsOf(first.length).filter((tail) => tail <= p).length;
  if (few === 0) return 0;
  const within = first.map((x, at) => x - (second[at] ?? NaN));
  const differences =
    first.length < PAIRED
      ? first.flatMap((x) => second.map((y) => x - y))
      : within.flatMap((x, at) => within.slice(0, at + 1).map((y) => (x + y) / 2));
  const sorted = ascending(differences);
  if ((sorted[few - 1] ?? NaN) > 0) return 1;
  return (sorted[sorted.length - few] ?? NaN) < 0 ? -1 : 0;
}

/** Whether `a` with a known amount is significantly less than `b` with one. */
export function isTotalLess(
  [a, moreA]: [Estimate, number],
  [b, moreB]: [Estimate, number],
  rules: Record<string, Rule>,
): boolean {
  if (a.rounds.length === 0 || b.rounds.length === 0) return false;
  const pairs = common(a.rounds, b.rounds).map(([, x, y]): [number, number] => [x + moreA, y + moreB]);
  const logs = pairs
    .map(([x, y]): [number, number] => [Math.log(x), Math.log(y)])
    .filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y));
  const rule = rules[a.metric] ?? rules[b.metric];
  const cutoff = rule?.cutoffs.filter(([rounds]) => rounds <= logs.length).at(-1)?.[1];
  if (rule === undefined || cutoff === undefined) return false;
  const [first, second] = [logs.map(([x]) => x), logs.map(([, y]) => y)];
  const part = (a.value + b.value) / (a.value + moreA + b.value + moreB);
  const width = (logs: number[]): number => {
    if (!(rule.spread > 0)) return 1;
    const times = spreadOf(ascending(logs)) / part / rule.spread;
    return Math.min(Math.max(times, LEAST_WIDTH), 1 / LEAST_WIDTH) ** rule.own;
  };
  const level = (logs: number[]) => levelOf(rule.density, ascending(logs), part * width(logs));
  const figure =
    a.quantile >= MEDIAN
      ? quantile(first.map((x, at) => x - (second[at] ?? NaN)), MEDIAN)
      : Math.min(...first) - Math.min(...second);
  const spread = Math.max(spreadOf(ascending(first)), spreadOf(ascending(second)));
  const exact = first.length < PAIRED && Math.abs(figure) <= spread ? 0 : exactSign(first, second, rule.exact);
  if (exact !== 0) return exact < 0;
  const reach = part * Math.sqrt((width(first) ** 2 + width(second) ** 2) / 2) * cutoff;
  return -shiftOf(figure, level(first) - level(second)) > reach;
}
