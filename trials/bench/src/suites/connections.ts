import type { Comparison, Extent } from '../comparison.js';
import { figureOf } from '../run/measurement.js';

/** Connections a second. */
const TARGET = 1000;

/** The connection manager beside TCP over the loopback interface, each a pair of C programs that sleep between events. */
export function connectionComparisons({ scale }: Extent): Comparison[] {
  const counted = (count: number) => Math.max(1, Math.round(count * scale));
  const comparison = (title: string, count: number, open: number): Comparison => {
    const args = ['-n', String(count), '-w', String(open)];
    return {
      name: `connections: ${title}`,
      unit: 'connections/s',
      valueOf: (measurement) => figureOf(measurement, 'rate'),
      better: 'large',
      contenders: [
        { name: 'TCP', program: 'tcp_connections', args },
        { name: 'connection manager', program: 'cm_connections', args },
      ],
      targets: [
        { title: `connections a second, ${title}`, contender: 'connection manager', of: 'value', limit: TARGET },
      ],
    };
  };
  const many = counted(10_000);
  return [
    comparison('opened and closed, one after the other', counted(3000), 1),
    comparison('opened and closed, 32 at a time', counted(3000), 32),
    comparison(`${many} opened that stay open`, many, many),
  ];
}
