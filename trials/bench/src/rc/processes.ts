// RC messages between two processes: rc-processes.mjs plain|batch round-trip … or
// await|promise|plain|batch stream SIZE COUNT …
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { CompletionBatch } from '@verbs/core';
import type { Measurement } from '../run/measurement.js';
import { roundTrips } from '../messages/ends.js';
import { type Address, End } from './end.js';
import { pin } from './pin.js';
import { DEPTH, type Player, pollingPlayer } from './ping-pong.js';
import { messageRate, readTask, type Task, wholeWindows } from './task.js';
import { BatchedWrites, checkPattern, fillPattern, PlainWrites, writesBytes } from './writes.js';

const DEVICE = 'soft0';
// Warm-up for the compiler; C needs none.
const WARM_UP = 5000;
/** One call posts a whole batch: to warm up by calls, batches need more messages. */
const STREAM_WARM_UP = { batch: 100_000, plain: WARM_UP, await: WARM_UP, promise: WARM_UP };
/** Of large messages few are enough: the calls are not what takes the time. */
const WARM_UP_BYTES = 64 << 20;

const spins = ({ way }: Task) => way !== 'await' && way !== 'promise';
const warmUp = ({ count }: Task) => Math.min(count, WARM_UP);

function makeEnd(task: Task): End {
  const { what, size, window } = task;
  return what === 'stream' ? new End(DEVICE, writesBytes(task), window) : new End(DEVICE, 2 * size, DEPTH);
}

/** Answers, until it has all messages. */
async function serve(task: Task, theirs: Address): Promise<void> {
  using end = makeEnd(task);
  end.join(theirs);
  const tell = () => process.send?.(end.address);
  if (task.what === 'stream') await takeStream(task, end, tell);
  else answer(task, end, tell);
  process.send?.('done');
  // The other end may still ask for an acknowledgement.
  await once(process, 'disconnect');
}

async function takeStream({ way }: Task, end: End, ready: () => void): Promise<void> {
  end.qp.postRecv({});
  ready();
  if (way === 'await' || way === 'promise') await end.cq.wait();
  else if (way === 'batch') {
    const batch = new CompletionBatch(1);
    while (end.cq.pollBatch(batch) === 0);
  } else while (end.cq.poll(1).length === 0);
  checkPattern(end);
}

function answer(task: Task, end: End, ready: () => void): void {
  const count = warmUp(task) + task.count;
  const { send, receive } = pollingPlayer(task.way, end, task.size);
  ready();
  for (let i = 0; i < count; i++) {
    receive();
    send();
  }
}

function polledRounds({ send, receive }: Player, samples: Float64Array): void {
  for (let i = 0; i < samples.length; i++) {
    const start = performance.now();
    send();
    receive();
    samples[i] = performance.now() - start;
  }
}

function measureRoundTrips(task: Task, end: End): Measurement {
  const samples = new Float64Array(task.count);
  const player = pollingPlayer(task.way, end, task.size);
  for (const each of [new Float64Array(warmUp(task)), samples]) polledRounds(player, each);
  return roundTrips(samples);
}

async function measureStream(task: Task, end: End, theirs: Address): Promise<Measurement> {
  fillPattern(end);
  const writes = new (task.way === 'batch' ? BatchedWrites : PlainWrites)(end, task, theirs);
  const run = async (count: number) => {
    if (task.way === 'promise') {
      await writes.promised(count);
      return;
    }
    writes.begin(count);
    while (writes.unfinished) {
      writes.fill();
      if (task.way === 'await') await end.cq.wait();
      writes.poll();
    }
  };
  const count = wholeWindows(task);
  await run(wholeWindows({ ...task, count: Math.min(STREAM_WARM_UP[task.way], WARM_UP_BYTES / task.size) }));
  const start = performance.now();
  await run(count);
  const duration = performance.now() - start;
  writes.finish();
  while (writes.unfinished) writes.poll();
  return messageRate(count, duration);
}

async function main(task: Task): Promise<void> {
  if (task.way === 'await' && task.what === 'round-trip') throw new Error('awaited round trips: see awaited.mjs');
  const given = process.env['VERBS_BENCH_END'];
  if (given !== undefined) {
    if (spins(task)) pin(1);
    await serve(task, JSON.parse(given) as Address);
    return;
  }
  using end = makeEnd(task);
  const env = { ...process.env, VERBS_BENCH_END: JSON.stringify(end.address) };
  const server = fork(process.argv[1] ?? '', process.argv.slice(2), {
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  // Now: the server would have inherited it. Who sleeps is the scheduler's, as the peers over sockets are.
  if (spins(task)) pin(0);
  // Who spins does not turn the loop: a server that fails would not be noticed, but by the NIC, whose retries end.
  server.once('exit', (status) => {
    if (status !== 0) process.exit(1);
  });
  const [theirs] = (await once(server, 'message')) as [Address];
  const done = once(server, 'message');
  end.join(theirs);
  const measurement = task.what === 'stream' ? await measureStream(task, end, theirs) : measureRoundTrips(task, end);
  await done;
  server.disconnect();
  process.stdout.write(`${JSON.stringify(measurement)}\n`);
}

await main(readTask(process.argv.slice(2)));
