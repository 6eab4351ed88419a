// Awaited round trips of messages and of Node's net between the same two processes, alternating:
// awaited.mjs wait|promises|comm SIZE COUNT
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { median } from '../statistics.js';
import { commWay } from './comm.js';
import { promiseWay, waitWay } from './rc.js';
import { socketWay } from './socket.js';
import type { MeasuringEnd, Way } from './way.js';

/** Round trips of one kind in a row: some milliseconds. */
const BLOCK = 100;
/** Before anything is measured the compiler has seen it all, and the kernel has spread two new processes as it likes. */
const WARM_UP_MS = 1500;

const WAYS: Readonly<Record<string, Way>> = { wait: waitWay, promises: promiseWay, comm: commWay };

function readTask([name = '', ...numbers]: readonly string[]): { ways: [Way, Way]; size: number; count: number } {
  const way = WAYS[name];
  const [size = NaN, count = NaN] = numbers.map(Number);
  if (way === undefined) throw new Error(`the way is ${name}: ${Object.keys(WAYS).join(', ')}`);
  for (const number of [size, count]) {
    if (!Number.isSafeInteger(number) || number < 1) throw new Error(`${number} is no size or count`);
  }
  return { ways: [socketWay, way], size, count };
}

async function serve(args: readonly string[]): Promise<void> {
  process.once('disconnect', () => process.exit());
  const { ways, size } = readTask(args);
  const ends = ways.map((way) => way.serving(size));
  process.send?.(ends.map(({ address }) => address));
  const [theirs] = (await once(process, 'message')) as [string[]];
  for (const [i, end] of ends.entries()) await end.join(theirs[i] ?? '');
  process.send?.('ready');
  await Promise.all(ends.map((end) => end.serve()));
}

/** Alternates blocks of both ways. Returns the median round trip of each, in milliseconds. */
async function measure(ends: readonly MeasuringEnd[], count: number): Promise<number[]> {
  const medians = ends.map((): number[] => []);
  const samples = new Float64Array(BLOCK);
  const start = performance.now();
  do for (const end of ends) await end.measure(samples);
  while (performance.now() - start < WARM_UP_MS);
  for (let done = 0; done < count; done += BLOCK) {
    for (const [which, end] of ends.entries()) {
      await end.measure(samples);
      medians[which]?.push(median([...samples]));
    }
  }
  return medians.map(median);
}

async function main(args: readonly string[]): Promise<void> {
  if (process.send !== undefined) {
    await serve(args);
    return;
  }
  const { ways, size, count } = readTask(args);
  const ends = ways.map((way) => way.measuring(size));
  const server = fork(process.argv[1] ?? '', args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  server.once('exit', () => {
    // The child has printed the reason.
    process.exit(1);
  });
  const [theirs] = (await once(server, 'message')) as [string[]];
  server.send(ends.map(({ address }) => address));
  await once(server, 'message');
  for (const [i, end] of ends.entries()) await end.join(theirs[i] ?? '');
  const [socket = NaN, awaited = NaN] = (await measure(ends, count)).map((milliseconds) =>
    Math.round(milliseconds * 1e6),
  );
  process.stdout.write(`${JSON.stringify({ unit: 'ns', socket, awaited })}\n`);
  server.removeAllListeners('exit');
  for (const end of ends) end[Symbol.dispose]();
  server.disconnect();
  await once(server, 'exit');
}

await main(process.argv.slice(2));
