import type { Pair } from './foreign/pair.js';
import type { Measurement } from './run/measurement.js';

/** One contender: a program and its arguments. */
export interface Contender {
  name: string;
  program: string;
  /** The software NIC's configuration; by default a plain device on UDP alone. */
  configuration?: string;
  args: readonly string[];
  /** More variables of its processes. */
  environment?: Readonly<Record<string, string>>;
  /** Its figure, where one run of the program measures several contenders in turn. */
  figure?: string;
  /** Of a program that is not this project's: how its two processes are run, and what they print. */
  pair?: Pair;
  /** All its processes share the first processor. */
  oneProcessor?: boolean;
  /** Another checkout of this repository, built, whose program is run. */
  checkout?: string;
  /** Its place on the x axis of the comparison's plot, where the contenders are points of one line. */
  x?: number;
}

/** A plot of the report: comparisons with the same title are its points. */
export interface Plot {
  title: string;
  axis: string;
  /** The x value of this comparison; undefined where the contenders have theirs. */
  x?: number;
}

/** Contenders that alternate, so that each meets the same state of the machine. */
export interface Comparison {
  name: string;
  unit: string;
  /** The figure that counts, in the comparison's unit. */
  valueOf: (measurement: Measurement, contender: Contender) => number;
  /** Small is good for times, large for rates. */
  better: 'small' | 'large';
  /** The first one is the reference of the others. */
  contenders: readonly [Contender, ...Contender[]];
  targets: readonly Target[];
  plot?: Plot;
}

/** Whether two processors share a core, or what else makes them near; `mixed` where that changed during a measurement. */
export type Placement = 'near' | 'far' | 'mixed';

/** What a contender should reach. */
export interface Target {
  /** The row of the table. */
  title: string;
  contender: string;
  /** Its own figure, or the ratio of its figure to that of others. */
  of: 'ratio' | 'value';
  limit: number;
  /** Of a ratio: the best of these. By default the first contender. */
  against?: readonly string[];
  /** Only measurements with the processors placed so count. */
  placement?: 'near' | 'far';
}

/** How much is measured. */
export interface Extent {
  /** Multiplies the number of round trips and messages: 1 for figures, less for a quick run. */
  scale: number;
  /** Fewer sizes and contenders. */
  quick: boolean;
  /** A former state of this repository, for the target that is relative to it. */
  baseline?: string;
}
