import { expect, test } from 'vitest';
import { runPair } from './pair.js';

interface Case {
  name: string;
  args: string[];
  /** Of one message; of an atomic it is always 8. */
  sizes: number[];
  iterations: number;
}

/** 2, 4, 8, …, 8388608: what -a goes through. */
const allSizes = Array.from({ length: 23 }, (_, power) => 2 ** (power + 1));

function casesOf(name: string): Case[] {
  const has = (word: string) => name.includes(`_${word}_`);
  const one = (args: string, sizes: number[], iterations = 100): Case => {
    const all = [...args.split(' ').filter((word) => word !== ''), '-n', String(iterations)];
    return { name, args: all, sizes, iterations };
  };
  const usual = has('atomic') ? [8] : name.endsWith('_lat') ? [2] : [65536];
  const cases = [one('', usual)];
  if (has('atomic')) {
    cases.push(one('-A CMP_AND_SWAP', usual), one('-A FETCH_AND_ADD', usual));
  } else {
    cases.push(one('-s 1', [1]), one('-s 8388608', [8388608], 5), one('-m 256 -s 5000', [5000]));
    // For each row, whatever is asked for, perftest reads the clock for a fifth of a second to measure the processor: one program
    // goes through all sizes.
    if (name === 'ib_send_bw') cases.push(one('-a', allSizes, 5));
    if (name === 'ib_write_lat') cases.push(one('-s 4096', [4096]), one('-s 1048576', [1048576], 20));
  }
  if (has('send') || has('write')) {
    // Nothing slows a sender of UC or UD down: what is sent at once must fit into the receiver's socket buffer.
    cases.push(one('-I 64 -s 64', [64]), one('-c UC -s 1024', [1024], 50), one('-c UC -s 5000', [5000], 15));
  }
  if (has('send')) {
    cases.push(one('--use-srq', usual), one('-c UD -s 1024', [1024], 50), one('-c UD -s 1024 --use-srq', [1024], 50));
  }
  // perftest has no events for WRITE, whose receiver has no completion to wait for.
  if (!has('write')) cases.push(one('-e', usual));
  if (name.endsWith('_bw')) {
    cases.push(one('-q 4', usual), one('-b', usual), one('-b -q 4', usual), one('-l 8', usual, 128));
    if (!has('write')) cases.push(one('-b -q 4 -e', usual));
  }
  if (!name.endsWith('_lat')) return cases;
  // Both ends measure their processor for each row, a quarter of a second each, but not for cycles.
  return cases.map((each, i) => (i === 0 ? each : { ...each, args: [...each.args, '--report-cycles'] }));
}

/** The rows of the table of results: size and iterations. */
function rowsOf(stdout: string): { size: number; iterations: number }[] {
  const table = stdout.slice(stdout.indexOf('#bytes'));
  return [...table.matchAll(/^ *(\d+) +(\d+) +\d.*$/gm)].map(([, size, iterations]) => ({
    size: Number(size),
    iterations: Number(iterations),
  }));
}

/** Tests of programs of Debian's perftest, unchanged, between two processes: with everything that each can be asked for. */
export function testPrograms(names: string[]): void {
  test.each(names.flatMap(casesOf))('$name $args', { timeout: 180_000 }, async ({ name, args, sizes, iterations }) => {
    const [server, client] = await runPair(name, args);
    for (const outcome of [server, client]) expect(outcome, outcome?.stdout).toMatchObject({ status: 0 });
    const qps = args.includes('-q') ? 4 : 1;
    expect(rowsOf(client?.stdout ?? '')).toEqual(sizes.map((size) => ({ size, iterations: iterations * qps })));
  });
}
