// RC messages between two devices of this process: rc-local.mjs await|plain|batch round-trip|stream SIZE COUNT …
import { type Measurement } from '../run/measurement.js';
import { roundTrips } from '../messages/ends.js';
import { End } from './end.js';
import { DEPTH, type Player, pollingPlayer, sleepingPlayer } from './ping-pong.js';
import { messageRate, readTask, type Task, wholeWindows } from './task.js';
import { BatchedWrites, checkPattern, fillPattern, PlainWrites, type Writes, writesBytes } from './writes.js';

// Warm-up for the compiler; C needs none.
const WARM_UP = 5000;

function ends(bytes: number, depth: number): [End, End] {
  const [left, right] = [new End('soft0', bytes, depth), new End('soft1', bytes, depth)];
  left.join(right.address);
  right.join(left.address);
  return [left, right];
}

function polledRounds(left: Player, right: Player, samples: Float64Array): void {
  for (let i = 0; i < samples.length; i++) {
    const start = performance.now();
    left.send();
    right.receive();
    right.send();
    left.receive();
    samples[i] = performance.now() - start;
  }
}

async function awaitedRounds(
  left: Player<Promise<void>>,
  right: Player<Promise<void>>,
  samples: Float64Array,
): Promise<void> {
  for (let i = 0; i < samples.length; i++) {
    const start = performance.now();
    left.send();
    await right.receive();
    right.send();
    await left.receive();
    samples[i] = performance.now() - start;
  }
}

async function measureRoundTrips({ way, size, count }: Task): Promise<Measurement> {
  const [left, right] = ends(2 * size, DEPTH);
  using one = left;
  using two = right;
  const warmUp = new Float64Array(Math.min(count, WARM_UP));
  const samples = new Float64Array(count);
  if (way === 'await') {
    const players = [sleepingPlayer(one, size), sleepingPlayer(two, size)] as const;
    for (const each of [warmUp, samples]) await awaitedRounds(...players, each);
  } else {
    const players = [pollingPlayer(way, one, size), pollingPlayer(way, two, size)] as const;
    for (const each of [warmUp, samples]) polledRounds(...players, each);
  }
  return roundTrips(samples);
}

function polledStream(writes: Writes, right: End): void {
  while (writes.unfinished) {
    writes.fill();
    writes.poll();
    // The other device's progress.
    right.cq.poll(1);
  }
}

async function awaitedStream(writes: Writes, left: End): Promise<void> {
  writes.fill();
  while (writes.unfinished) {
    await left.cq.wait();
    writes.poll();
    writes.fill();
  }
}

async function measureStream(task: Task): Promise<Measurement> {
  const [left, right] = ends(writesBytes(task), task.window);
  using one = left;
  using two = right;
  fillPattern(one);
  const writes = new (task.way === 'batch' ? BatchedWrites : PlainWrites)(one, task, two.address);
  const run = async (count: number) => {
    writes.begin(count);
    if (task.way === 'await') await awaitedStream(writes, one);
    else polledStream(writes, two);
  };
  const count = wholeWindows(task);
  await run(Math.min(count, wholeWindows({ ...task, count: 4 * WARM_UP })));
  const start = performance.now();
  await run(count);
  const duration = performance.now() - start;
  checkPattern(two);
  return messageRate(count, duration);
}

const task = readTask(process.argv.slice(2));
if (task.way === 'promise') throw new Error('promises are awaited between two processes: see rc-processes.mjs');
const measurement = await (task.what === 'stream' ? measureStream(task) : measureRoundTrips(task));
process.stdout.write(`${JSON.stringify(measurement)}\n`);
