// A process with one or both ends of a connection, to which something will happen. The first argument is its
// configuration as JSON: { seed, ends: [{ package, device, address, me, mode, worker }] }. Commands come by IPC.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import process from 'node:process';
import { Worker } from 'node:worker_threads';
import { answerTo } from './answers.mjs';
import { End } from './end.mjs';
import { held, leftovers } from './leftovers.mjs';
import { requests } from './requests.mjs';
import { trap } from './wasm-trap.mjs';

const { seed, ends: configurations } = JSON.parse(process.argv[2]);
const ends = configurations.map(make);
let baseline;

function make(config) {
  const whole = { ...config, seed };
  if (!config.worker) return new End(whole);
  const worker = new Worker(new URL('worker-end.mjs', import.meta.url), { workerData: whole });
  const waiting = new Map();
  let number = 0;
  worker.on('message', ({ id, result, error }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) resolve(result);
    else reject(Object.assign(new Error(error.message), { code: error.code, stack: error.stack }));
  });
  return {
    worker,
    run: (command, argument) =>
      new Promise((resolve, reject) => {
        waiting.set(++number, { resolve, reject });
        worker.postMessage({ id: number, command, argument });
      }),
  };
}

/** Each thread has a heap of its own. */
const collect = () => Promise.all(ends.map((end) => end.run('collect')));

async function ofProcess(command, argument) {
  switch (command) {
    // Everything that is loaded or opened once and for all: after this, what is more is left over.
    case 'baseline':
      for (const end of ends) {
        await end.run('open');
        await end.run('make');
        await end.run('close');
      }
      globalThis.gc?.();
      baseline = held();
      return { pid: process.pid };
    case 'leftovers':
      return { found: await leftovers(baseline, { ...argument, collect }) };
    case 'sample': {
      globalThis.gc?.();
      const { rss, heapUsed } = process.memoryUsage();
      return { rss, heap: heapUsed, descriptors: readdirSync('/proc/self/fd').length };
    }
    case 'spawn':
      return { statuses: Array.from({ length: argument.count }, () => spawnSync('/bin/true').status) };
    case 'terminate': {
      const { worker } = ends[argument.end];
      const ended = once(worker, 'exit');
      await worker.terminate();
      await ended;
      // In the main thread from now on.
      ends[argument.end] = make({ ...configurations[argument.end], worker: false });
      return {};
    }
    case 'requests':
      return requests(argument);
    case 'trap':
      return { traps: trap() };
    case 'on-signal':
      process.on(argument.signal, () => undefined);
      return {};
    default:
      throw new Error(`${command}: no such command of a process`);
  }
}

process.on('message', async ({ id, end, command, argument }) => {
  const run = () => (end === undefined ? ofProcess(command, argument) : ends[end].run(command, argument));
  process.send(await answerTo(id, run));
  if (command === 'exit') process.disconnect();
});
process.on('disconnect', () => process.exit());
process.send({ ready: true });
