// Chooses among candidates, as `crates/answer/src/choose.rs`. Both are held together by generated conditions.

import type { Rule } from "./data";
import { type Estimate, commonRounds, isTotalLess } from "./estimate";

/** Costs within this share of the least are equal to it. */
const TOLERANCE = 0.01;
/** A candidate whose figure is further behind is never chosen for its simplicity. */
const FAR = 0.1;
/** A candidate that costs more than this many times the least is behind, however few its rounds are. */
const BEHIND = 2;
/** The least number of common rounds for a comparison. */
const ROUNDS = 5;

export type Confidence = "too few rounds" | "tied" | "settled";

/** What a candidate costs on one work: a part that varies, and one that is known. */
export interface Cost {
  varies: Estimate;
  known: number;
}

export interface Candidate {
  costs: (Cost | null)[];
  rank: number;
}

/** What was chosen for some works. Candidates and works are named by their numbers. */
export interface Choice {
  works: number[];
  tied: number[];
  chosen: number;
  confidence: Confidence;
}

interface Standing {
  behind: number;
  isOpen: boolean;
  isEqual: boolean;
  isFew: boolean;
}

export const totalOf = (cost: Cost): number => cost.varies.value + cost.known;
const isExact = (cost: Cost): boolean => cost.varies.value === 0 || cost.varies.rounds.length === 0;

function isLess(a: Cost, b: Cost, rules: Record<string, Rule>): boolean {
  if (isExact(a) && isExact(b)) return totalOf(a) < totalOf(b);
  return isTotalLess([a.varies, a.known], [b.varies, b.known], rules);
}

function isComparable(a: Cost, b: Cost): boolean {
  return (isExact(a) && isExact(b)) || commonRounds(a.varies, b.varies) >= ROUNDS;
}

/** How sure it is that two differ. */
export function differ(a: Cost, b: Cost, rules: Record<string, Rule>): Confidence {
  if (!isComparable(a, b)) return "too few rounds";
  return isLess(a, b, rules) || isLess(b, a, rules) ? "settled" : "tied";
}

/** How every candidate stands on a work; null for those that may not be chosen there. */
function standings(costs: (Cost | null)[], rules: Record<string, Rule>): (Standing | null)[] {
  const known = costs.filter((cost) => cost !== null);
  const first = known[0];
  if (first === undefined) return costs.map(() => null);
  const least = known.reduce((least, cost) => (totalOf(cost) < totalOf(least) ? cost : least), first);
  const isCommon = known.every((cost) => cost.known === least.known) && least.varies.value > 0;
  const counted = (cost: Cost) => (isCommon ? cost.varies.value : totalOf(cost));
  const hasRounds = isExact(least) || least.varies.rounds.length >= ROUNDS;
  return costs.map((cost) => {
    if (cost === null) return null;
    const behind = counted(cost) === counted(least) ? 1 : counted(cost) / counted(least);
    const isKnown = cost === least || isComparable(least, cost);
    const isOpen = cost === least || (isKnown && !isLess(least, cost, rules));
    const isEqual = behind <= 1 + TOLERANCE || (isKnown ? isOpen : behind <= 1 + FAR);
    return { behind, isOpen, isEqual, isFew: !hasRounds || (!isKnown && behind <= BEHIND) };
  });
}

/** Chooses for all works on which something may be chosen: the choice for the most works first. */
export function choose(candidates: Candidate[], rules: Record<string, Rule>): Choice[] {
  const count = Math.max(0, ...candidates.map((one) => one.costs.length));
  const works = Array.from({ length: count }, (_, work) =>
    standings(candidates.map((one) => one.costs[work] ?? null), rules),
  );
  let left = works.flatMap((standings, work) => (standings.some((one) => one !== null) ? [work] : []));
  const choices: Choice[] = [];
  while (left.length > 0) {
    const choice = widest(candidates, works, left);
    if (choice === null) break;
    left = left.filter((work) => !choice.works.includes(work));
    choices.push(choice);
  }
  return choices;
}

/** The choice that holds on the most of some works. */
function widest(candidates: Candidate[], works: (Standing | null)[][], left: number[]): Choice | null {
  const equal = (at: number, work: number) => {
    const standing = works[work]?.[at] ?? null;
    return standing?.isEqual === true ? standing : null;
  };
  const held = candidates.map((_, at) => left.filter((work) => equal(at, work) !== null).length);
  // Of those that hold on as many works, those where more compete come first.
  const rivals = (work: number) => (works[work] ?? []).filter((one) => one !== null).length;
  const crowd = candidates.map((_, at) =>
    left.reduce((sum, work) => sum + (equal(at, work) === null ? 0 : rivals(work)), 0),
  );
  const most = Math.max(0, ...held);
  if (most === 0) return null;
  const largest = Math.max(...crowd.filter((_, at) => held[at] === most));
  const mean = (at: number) => {
    const behind = left.flatMap((work) => equal(at, work)?.behind ?? []);
    return behind.reduce((sum, one) => sum + Math.log(one), 0) / most;
  };
  const widest = candidates.flatMap((one, at) => (held[at] === most && crowd[at] === largest ? [{ at, rank: one.rank, mean: mean(at) }] : []));
  const least = Math.min(...widest.map((one) => one.mean));
  const near = widest.filter((one) => one.mean <= least + Math.log1p(FAR));
  near.sort((a, b) => a.rank - b.rank || a.mean - b.mean);
  const chosen = near[0]?.at ?? 0;
  const own = left.filter((work) => equal(chosen, work) !== null);
  const tied = candidates.flatMap((_, at) => (own.every((work) => equal(at, work) !== null) ? [at] : []));
  const standings = own.map((work) => (works[work] ?? []).filter((one) => one !== null));
  const confidence = standings.some((all) => all.some((one) => one.isFew))
    ? "too few rounds"
    : standings.some((all) => all.filter((one) => one.isOpen).length > 1)
      ? "tied"
      : "settled";
  return { works: own, tied, chosen, confidence };
}
