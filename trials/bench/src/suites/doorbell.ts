import type { Comparison, Extent } from '../comparison.js';
import { figureOf } from '../run/measurement.js';

/** A doorbell of Habana's devices, which is a store into memory of the model. */
export function doorbellComparison({ scale }: Extent): Comparison {
  const doorbells = { configuration: 'hbl_0,kind=hbl', args: [String(Math.max(32, Math.round(100_000 * scale)))] };
  return {
    name: "a doorbell into a user FIFO of the model of Habana's devices, in batches of 32",
    unit: 'ns',
    valueOf: (measurement) => figureOf(measurement, 'push'),
    better: 'small',
    contenders: [
      { name: 'C', program: 'doorbell_push', ...doorbells },
      { name: 'TypeScript', program: 'doorbell-push.mjs', ...doorbells },
    ],
    targets: [
      { title: "TypeScript's doorbell against C's plain stores", contender: 'TypeScript', of: 'ratio', limit: 1.5 },
    ],
  };
}
