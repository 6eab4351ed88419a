import type { Comparison, Contender, Extent } from '../comparison.js';
import { figureOf } from '../run/measurement.js';
import { messages } from './rates.js';

const SIZE = 64;
const NEIGHBOURS = 7;
const ALONE = 'alone at its address';
const SHARED = 'one of eight processes at its address';
/** Each end has an address of its own, as on two hosts. */
const at = (address: string) => `soft0,link=udp,mtu=4096,addr=${address}`;

/** A process that shares its address with seven others, beside one that has it for itself: both ends, over UDP. */
export function sharingComparisons({ scale }: Extent): Comparison[] {
  const contenders = (program: string, count: number, more: readonly string[]): [Contender, Contender] => {
    const contender = (name: string, neighbours: readonly string[]): Contender => ({
      name,
      program,
      configuration: at('127.0.0.211'),
      environment: { VERBS_SOFT_OF_SERVER: at('127.0.0.212') },
      args: ['-s', String(SIZE), '-n', String(Math.max(256, Math.round(count * scale))), ...more, ...neighbours],
    });
    return [contender(ALONE, []), contender(SHARED, ['-p', String(NEIGHBOURS)])];
  };
  return [
    {
      name: `round trip of ${SIZE} bytes over UDP between addresses that processes share`,
      unit: 'us',
      valueOf: (measurement) => figureOf(measurement, 'median') / 1000,
      better: 'small',
      contenders: contenders('rc_pingpong', 20_000, []),
      targets: [
        { title: 'round trip over UDP, one of eight at an address', contender: SHARED, of: 'ratio', limit: 1.1 },
      ],
    },
    {
      name: `messages of ${SIZE} bytes over UDP between addresses that processes share`,
      unit: 'messages/s',
      valueOf: messages,
      better: 'large',
      contenders: contenders('rc_messages', 1_000_000, ['-w', '256', '-l', '32']),
      // 1.1 times the time.
      targets: [{ title: 'rate over UDP, one of eight at an address', contender: SHARED, of: 'ratio', limit: 0.909 }],
    },
  ];
}
