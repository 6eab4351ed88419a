// RC messages between two processes: rc-processes.mjs await|plain|batch round-trip|stream SIZE COUNT …
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Measurement } from '../program.js';
import { roundTrips } from '../messages/ends.js';
import { type Address, End } from './end.js';
import { pin } from './pin.js';
import { DEPTH, type Player, pollingPlayer, sleepingPlayer } from './ping-pong.js';
import { messageRate, readTask, type Task, wholeWindows } from './task.js';
import { BatchedWrites, checkPattern, fillPattern, PlainWrites, writesBytes } from './writes.js';

const DEVICE = 'soft0';
// What the compiler needs to see before it compiles for good. C was compiled before.
const WARM_UP = 5000;

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
  else await answer(task, end, tell);
  process.send?.('done');
  // The other end may still ask for an acknowledgement.
  await once(process, 'disconnect');
}

async function takeStream({ way }: Task, end: End, ready: () => void): Promise<void> {
  end.qp.postRecv({});
  ready();
  if (way === 'await') await end.cq.wait();
  else while (end.cq.poll(1).length === 0);
  checkPattern(end);
}

async function answer(task: Task, end: End, ready: () => void): Promise<void> {
  const count = warmUp(task) + task.count;
  if (task.way === 'await') {
    const { send, take } = sleepingPlayer(end, task.size);
    ready();
    for (let i = 0; i < count; i++) {
      await take();
      send();
    }
    return;
  }
  const { send, take } = pollingPlayer(task.way, end, task.size);
  ready();
  for (let i = 0; i < count; i++) {
    take();
    send();
  }
}

function polledRounds({ send, take }: Player, samples: Float64Array): void {
  for (let i = 0; i < samples.length; i++) {
    const start = performance.now();
    send();
    take();
    samples[i] = performance.now() - start;
  }
}

async function awaitedRounds({ send, take }: Player<Promise<void>>, samples: Float64Array): Promise<void> {
  for (let i = 0; i < samples.length; i++) {
    const start = performance.now();
    send();
    await take();
    samples[i] = performance.now() - start;
  }
}

async function measureRoundTrips(task: Task, end: End): Promise<Measurement> {
  const samples = new Float64Array(task.count);
  const turns = [new Float64Array(warmUp(task)), samples];
  if (task.way === 'await') {
    const player = sleepingPlayer(end, task.size);
    for (const each of turns) await awaitedRounds(player, each);
  } else {
    const player = pollingPlayer(task.way, end, task.size);
    for (const each of turns) polledRounds(player, each);
  }
  return roundTrips(samples);
}

async function measureStream(task: Task, end: End, theirs: Address): Promise<Measurement> {
  fillPattern(end);
  const writes = new (task.way === 'batch' ? BatchedWrites : PlainWrites)(end, task, theirs);
  const run = async (count: number) => {
    writes.begin(count);
    while (writes.unfinished) {
      writes.fill();
      if (task.way === 'await') await end.cq.wait();
      writes.reap();
    }
  };
  const count = wholeWindows(task);
  await run(wholeWindows({ ...task, count: warmUp(task) }));
  const start = performance.now();
  await run(count);
  const duration = performance.now() - start;
  writes.finish();
  while (writes.unfinished) writes.reap();
  return messageRate(count, duration);
}

async function main(task: Task): Promise<void> {
  const given = process.env['VERBS_BENCH_END'];
  if (given !== undefined) {
    if (task.way !== 'await') pin(1);
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
  if (task.way !== 'await') pin(0);
  // Who spins does not turn the loop: a server that fails would not be noticed, but by the NIC, whose retries end.
  server.once('exit', (status) => {
    if (status !== 0) process.exit(1);
  });
  const [theirs] = (await once(server, 'message')) as [Address];
  const done = once(server, 'message');
  end.join(theirs);
  const measurement = await (task.what === 'stream' ? measureStream(task, end, theirs) : measureRoundTrips(task, end));
  await done;
  server.disconnect();
  process.stdout.write(`${JSON.stringify(measurement)}\n`);
}

await main(readTask(process.argv.slice(2)));
