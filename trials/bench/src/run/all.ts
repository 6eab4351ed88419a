import type { Comparison, Contender } from '../comparison.js';
import { probePlacement } from './placement.js';
import type { Measurement } from './measurement.js';
import { measure } from './program.js';
import { type ComparisonResult, Race } from './rounds.js';
import { Skipped } from './skipped.js';

/** Seconds of a contender that are worth a word. */
const SLOW = 5;

export interface Limits {
  rounds: number;
  seconds: number;
}

/**
 * Runs all comparisons in each round, so that the rounds of each are spread over the whole time. Returns the number of
 * rounds as well: a round that would not end in time does not begin.
 */
export async function runAll(
  comparisons: readonly Comparison[],
  { rounds, seconds }: Limits,
): Promise<{ rounds: number; results: ComparisonResult[] }> {
  const races = comparisons.map((comparison) => new Race(comparison));
  const start = performance.now();
  const spent = () => (performance.now() - start) / 1000;
  let round = 0;
  while (round < rounds && spent() + spent() / Math.max(round, 1) <= seconds) {
    round++;
    for (const race of races) {
      console.error(`round ${round} of ${rounds}: ${race.comparison.name}`);
      await race.round(measureAloud, probePlacement);
    }
  }
  return { rounds: round, results: races.map((race) => race.result()) };
}

async function measureAloud(contender: Contender): Promise<Measurement> {
  const start = performance.now();
  try {
    return await measure(contender);
  } catch (error) {
    const what = error instanceof Skipped ? 'left out' : 'failed';
    console.error(`  ${what}: ${contender.name}: ${(error as Error).message}`);
    throw error;
  } finally {
    const seconds = (performance.now() - start) / 1000;
    if (seconds > SLOW) console.error(`  ${contender.name} took ${seconds.toFixed(0)} s`);
  }
}
