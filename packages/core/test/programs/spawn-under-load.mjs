// Starts programs while workers open and close devices: spawn-under-load.mjs MODULE [SPAWNS]. The module's default function
// opens, uses and closes once. Prints how often each happened.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

if (isMainThread) {
  const [module, spawns = '200'] = process.argv.slice(2);
  const turns = new Int32Array(new SharedArrayBuffer(8));
  const data = { module: pathToFileURL(resolve(module)).href, turns };
  const workers = [0, 1].map(() => new Worker(new URL(import.meta.url), { workerData: data }));
  while (Atomics.load(turns, 0) < 4) await Promise.race(workers.map((worker) => once(worker, 'message')));
  let started = 0;
  for (let i = 0; i < Number(spawns); i += 4) {
    const children = [0, 1, 2, 3].map(() => spawn('/bin/true', { stdio: 'ignore' }));
    for (const [code] of await Promise.all(children.map((child) => once(child, 'exit')))) started += code === 0 ? 1 : 0;
  }
  const before = Atomics.load(turns, 0);
  Atomics.store(turns, 1, 1);
  await Promise.all(workers.map((worker) => once(worker, 'exit')));
  console.log(JSON.stringify({ started, busy: before > 8 }));
} else {
  const { parentPort } = await import('node:worker_threads');
  const { default: churn } = await import(workerData.module);
  while (Atomics.load(workerData.turns, 1) === 0) {
    await churn();
    Atomics.add(workerData.turns, 0, 1);
    parentPort.postMessage('turn');
  }
}
