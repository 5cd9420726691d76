// Arithmetic with estimates, as `crates/answer/src/estimate.rs`, and the comparison of two, as `verdict.rs` and the crate `weigh-stats`.

import betainc from "@stdlib/math-base-special-betainc";
import type { Observed, Rule } from "./data";

/** An estimate in the making: `metric` names the rule of its comparisons. */
export type Estimate = Observed;

const MEDIAN = 0.5;
/** The least number of common rounds for a significant difference. */
const ROUNDS = 5;
/** How far the figures must differ, as a share of the mean difference over rounds (both as logarithms). */
const PART = 0.5;
const LEAST_VARIANCE = 1e-5;
const MOST_FREEDOM = 500;

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

interface LogRatio {
  mean: number;
  variance: number;
  rounds: number;
}

function logRatio(pairs: [number, number][]): LogRatio | null {
  const logs = pairs.map(([a, b]) => Math.log(a) - Math.log(b)).filter(Number.isFinite);
  const rounds = logs.length;
  if (rounds < 2) return null;
  const mean = logs.reduce((sum, log) => sum + log, 0) / rounds;
  const squares = logs.reduce((sum, log) => sum + (log - mean) * (log - mean), 0);
  return { mean, variance: squares / (rounds - 1), rounds };
}

interface Shrinkage {
  variance: number;
  freedom: number;
  all: number;
}

/** A single comparison has only its own variance: none if it has no spread. */
function alone(log: LogRatio): Shrinkage | null {
  if (!(log.variance > 0)) return null;
  // The logarithm of the variance without its bias, as for many; its degrees of freedom are none.
  return { variance: Math.max(log.variance, log.variance * LEAST_VARIANCE), freedom: 0, all: log.rounds - 1 };
}

function pOfShrunk(by: Shrinkage, log: LogRatio): number {
  const own = log.rounds - 1;
  const variance =
    by.freedom === Infinity ? by.variance : (by.freedom * by.variance + own * log.variance) / (by.freedom + own);
  const error = Math.sqrt(variance / log.rounds);
  const freedom = Math.min(by.freedom + own, Math.max(by.all, own), MOST_FREEDOM);
  const t = Math.abs(log.mean) / error;
  return Number.isFinite(t) ? betainc(freedom / (freedom + t * t), freedom / 2, 0.5) : 1;
}

function pValue(by: Shrinkage | null, log: LogRatio, value: number): number {
  const figure = Math.log(value);
  const agrees = figure * log.mean >= 0 && Math.abs(figure) >= PART * Math.abs(log.mean);
  if (log.rounds < ROUNDS || !agrees) return 1;
  if (by !== null) return pOfShrunk(by, log);
  return log.mean === 0 ? 1 : 0;
}

const ALONE: Rule = { shrinkage: null, listed: 0.03, claimed: 0.02, comparisons: 1 };

/** Whether `a` with a known amount is significantly less than `b` with one. */
export function isTotalLess(
  [a, moreA]: [Estimate, number],
  [b, moreB]: [Estimate, number],
  rules: Record<string, Rule>,
): boolean {
  if (a.rounds.length === 0 || b.rounds.length === 0) return false;
  const pairs = common(a.rounds, b.rounds).map(([, x, y]): [number, number] => [x + moreA, y + moreB]);
  const log = logRatio(pairs);
  if (log === null) return false;
  let value: number;
  if (a.quantile >= MEDIAN) value = quantile(pairs.map(([x, y]) => x / y), MEDIAN);
  else if (a.rounds.length === pairs.length && b.rounds.length === pairs.length) {
    value = (a.value + moreA) / (b.value + moreB);
  } else {
    value = quantile(pairs.map(([x]) => x), a.quantile) / quantile(pairs.map(([, y]) => y), b.quantile);
  }
  if (!(value < 1) || !Number.isFinite(Math.log(value))) return false;
  const rule = rules[a.metric] ?? rules[b.metric] ?? ALONE;
  const part = (a.value + b.value) / (a.value + moreA + b.value + moreB);
  const by =
    rule.shrinkage === null
      ? alone(log)
      : {
          variance: rule.shrinkage.variance * part * part,
          freedom: rule.shrinkage.freedom ?? Infinity,
          all: rule.shrinkage.all,
        };
  return pValue(by, log, value) <= rule.listed;
}
