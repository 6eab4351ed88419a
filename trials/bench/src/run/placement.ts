import type { Contender, Placement } from '../comparison.js';
import { figureOf } from './measurement.js';
import { measure } from './program.js';

/** Nanoseconds of a round trip through a flag in shared memory: about 170 between near processors, 700 between far ones. */
const NEAR_NS = 350;

const PROBE: Contender = { name: 'probe', program: 'probe', args: ['-n', '3000'] };

/** How the two processors are placed at this moment. */
export async function probePlacement(): Promise<Placement> {
  return figureOf(await measure(PROBE), 'median') < NEAR_NS ? 'near' : 'far';
}

/** The placement during a measurement, from those before and after it. */
export function between(before: Placement, after: Placement): Placement {
  return before === after ? before : 'mixed';
}
