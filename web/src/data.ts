// The data of a run, as `crates/answer/src/page/data.rs` writes it. Texts in it are hostile: they become text nodes, never markup.

export type Goal = "time" | "money";
export type Connection = "warm" | "idle" | "new";

/** A link, and the share of operations over it. */
export interface LinkShare {
  mbit: number;
  rtt_ms: number;
  share: number;
}

/** Under which configurations are ranked. Prices: of a core for an hour, of 10^9 bytes sent, of a second that a visitor waits. */
export interface Conditions {
  goal: Goal;
  links: LinkShare[];
  connection: Connection;
  reads: number;
  core_hour: number;
  gb: number;
  second: number;
}

/** The logarithm of a density on an even grid, and its highest places. */
export interface Density {
  from: number;
  step: number;
  logs: number[];
  peaks: number[];
}

/**
 * What is significant of one metric: the usual spread of a configuration, and how much of the differences between spreads is
 * more than chance; for numbers of rounds, ascending, the least significant shift (a logarithm) of two that spread as usual;
 * and the density of their noise.
 */
export interface Rule {
  spread: number;
  own: number;
  cutoffs: [number, number][];
  exact: number;
  density: Density;
}

/** A value with its 95% interval, and its rounds. */
export interface Observed {
  value: number;
  low: number | null;
  high: number | null;
  metric: string;
  quantile: number;
  rounds: [number, number][];
}

export interface Metric {
  id: string;
  unit: string;
  better: "less" | "more" | "neither";
  per: string;
  about: string;
}

/** One configuration. */
export interface Point {
  id: string;
  label: string;
  family: string;
  front: boolean;
  recommended: boolean;
  marks: string[];
  dominated_by: string | null;
  candidate: boolean;
  config: [string, string][];
  caveats: string[];
  /** The command that measures it again, alone. */
  command: string | null;
  write: Observed | null;
  read: Observed | null;
  bytes: number | null;
  stored_write: number;
  stored_read: number;
  values: Record<string, [number, number | null, number | null, number]>;
  histogram: { metric: string; edges: number[]; counts: number[] } | null;
  series: { name: string; unit: string; points: [number, number][] }[];
}

export interface Group {
  title: string;
  /** What the best is compared with. */
  usual: string | null;
  points: Point[];
}

/** Something to choose: alternatives over some groups, each with its rank, whether it may be chosen, and the place of its point in each group. */
export interface Question {
  /** For whom; empty if it is the only one. */
  scope: string;
  groups: number[];
  alternatives: [number, boolean, (number | null)[]][];
}

/** One method of sending beside a number of slow clients. Times in seconds. */
export interface Slow {
  id: string;
  /** Server and method; the same for every number of slow clients. */
  setup: string;
  /** The place of the setup, and its colour. */
  place: number;
  color: string;
  content: string;
  clients: number;
  workers: number;
  outcome: "alone" | "free" | "kept" | "starved";
  due: number;
  answered: number;
  prompt: number;
  failed: number;
  /** What was not answered took longer than this. */
  beyond: number | null;
  p50: number | null;
  p99: number | null;
  /** Percent and time. */
  percentiles: [number, number][];
  /** At, busy workers, waiting connections. */
  busy: [number, number, number][];
  /** From, answered light requests, their median time, the longest. */
  light: [number, number, number | null, number | null][];
  command: string | null;
}

/** A profile as merged call paths; none is before its caller's. */
export interface Flame {
  name: string;
  about: string;
  unit: string;
  total: number;
  functions: [string, "own" | "php" | "file"][];
  /** The place of the caller's path or -1, of the function, and the cost with everything that it calls. */
  paths: [number, number, number][];
  left_out: number;
}

/** What every page has. */
export interface Embedded {
  schema: number;
  flames: Flame[];
}

export interface Data extends Embedded {
  /** The command of the run. */
  command: string | null;
  noun: [string, string];
  metrics: Metric[];
  costs: { write: string | null; read: string; bytes: string | null } | null;
  conditions: Conditions;
  links: { name: string; mbit: number; rtt_ms: number }[];
  sharing: number;
  rules: Record<string, Rule>;
  groups: Group[];
  /** The group that the answer is shown for. */
  shown: number;
  questions: Question[];
  slow: Slow[];
}

/** The version of the data that this program reads. */
export const SCHEMA = 3;
