import type { Comparison, Contender, Extent } from '../comparison.js';
import { figureOf } from '../run/measurement.js';
import { SHM, UDP } from './devices.js';

const SLEEPS = { name: 'the target sleeps', figure: 'sleeps' };
const POLLS = [
  { name: 'the target polls every 1 ms', figure: 'polls_1ms', title: 'a target that polls every 1 ms' },
  { name: 'the target polls every 10 ms', figure: 'polls_10ms', title: 'a target that polls every 10 ms' },
];

/** READs from a process that is passive: one that polls rarely must answer as one that sleeps does, by its helper thread. */
export function passiveComparisons({ scale }: Extent): Comparison[] {
  const args = ['-s', '4096', '-n', String(Math.max(1, Math.round(20_000 * scale)))];
  return [
    { link: 'shared memory', configuration: SHM },
    { link: 'UDP', configuration: UDP },
  ].map(({ link, configuration }): Comparison => {
    const contender = (name: string, figure: string): Contender => ({
      name,
      figure,
      program: 'passive_reads',
      configuration,
      args,
    });
    return {
      name: `READ of 4096 bytes from a passive process, ${link}`,
      unit: 'us',
      valueOf: (measurement, { figure = '' }) => figureOf(measurement, figure) / 1000,
      better: 'small',
      contenders: [contender(SLEEPS.name, SLEEPS.figure), ...POLLS.map(({ name, figure }) => contender(name, figure))],
      targets: POLLS.map(({ name, title }) => ({
        title: `READ of 4 KiB over ${link}, ${title} against one that sleeps`,
        contender: name,
        of: 'ratio',
        limit: 1.5,
      })),
    };
  });
}
