import type { Comparison, Contender } from '../comparison.js';
import { figureOf } from '../run/measurement.js';

interface Awaited {
  /** Of what: 'RC SEND by cq.wait()'. */
  what: string;
  /** The contender, and its name in awaited.mjs. */
  contender: string;
  way: string;
  size: number;
  count: number;
  configuration: string;
  environment?: Readonly<Record<string, string>>;
  oneProcessor?: boolean;
  limit?: number;
}

/**
 * Round trips in which both ends sleep, beside those over Node's net on a unix socket between the same two processes, a
 * hundred of one and a hundred of the other in turn. Where the kernel puts two processes that wake each other, on one
 * processor or on two, makes a factor of three; here it is the same for both.
 */
export function awaitedComparison(awaited: Awaited): Comparison {
  const { what, contender, way, size, count, configuration, environment, oneProcessor = false, limit = 1 } = awaited;
  const measured = (title: string, figure: string): Contender => ({
    name: title,
    figure,
    program: 'awaited.mjs',
    args: [way, String(size), String(count)],
    configuration,
    ...(environment && { environment }),
    oneProcessor,
  });
  const where = oneProcessor ? ', both processes on one processor' : '';
  return {
    name: `round trip of ${size} bytes, awaited, ${what}${where}`,
    unit: 'us',
    valueOf: (measurement, { figure = '' }) => figureOf(measurement, figure) / 1000,
    better: 'small',
    contenders: [measured('unix socket', 'socket'), measured(contender, 'awaited')],
    targets: [
      {
        title: `${what}, ${size} B, awaited round trip against Node's unix socket${where}`,
        contender,
        of: 'ratio',
        limit,
      },
    ],
  };
}
