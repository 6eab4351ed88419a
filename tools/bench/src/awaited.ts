import type { Comparison, Contender } from './comparisons.js';
import { figureOf } from './program.js';

interface Awaited {
  name: string;
  /** The contender, and its name in awaited.mjs. */
  contender: string;
  way: string;
  size: number;
  count: number;
  configuration?: string;
}

/** Maximum ratio to a round trip over Node's net. */
const LIMIT = 1.5;

/**
 * Round trips in which both ends sleep, beside those over Node's net on a unix socket between the same two processes, a
 * hundred of one and a hundred of the other in turn. Where the kernel puts two processes that wake each other, on one
 * processor or on two, makes a factor of three; here it is the same for both.
 */
export function awaitedComparison({ name, contender, way, size, count, configuration }: Awaited): Comparison {
  const measured = (title: string, figure: string): Contender => ({
    name: title,
    figure,
    program: 'awaited.mjs',
    args: [way, String(size), String(count)],
    ...(configuration !== undefined && { configuration }),
  });
  return {
    name,
    unit: 'us',
    valueOf: (measurement, { figure = '' }) => figureOf(measurement, figure) / 1000,
    better: 'small',
    contenders: [measured('unix socket', 'socket'), measured(contender, 'awaited')],
    targets: [{ contender, of: 'ratio', limit: LIMIT }],
  };
}
