// Messages between two threads of a process: message-port.mjs port round-trip|stream SIZE COUNT
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { check, fill, rate, readTask, roundTrips, type Task } from './ends.js';

/** Messages of a stream on their way: posted ones wait in memory, without a limit. */
const WINDOW = 1024;

function serve({ what, size, count }: Task): void {
  let n = 0;
  parentPort?.on('message', (message: Uint8Array) => {
    check(message, n++, size);
    if (what === 'round-trip' || n % WINDOW === 0 || n === count) parentPort?.postMessage(message);
    if (n === count) parentPort?.close();
  });
}

async function measure(task: Task) {
  const worker = new Worker(new URL(import.meta.url), { workerData: task });
  await once(worker, 'online');
  const message = new Uint8Array(task.size);
  const answer = async (n: number) => {
    const [data] = (await once(worker, 'message')) as [Uint8Array];
    check(data, n, task.size);
  };
  if (task.what === 'stream') {
    const begin = performance.now();
    for (let n = 0; n < task.count; n++) {
      fill(message, n);
      worker.postMessage(message);
      if ((n + 1) % WINDOW === 0 || n + 1 === task.count) await answer(n);
    }
    return rate(task, performance.now() - begin);
  }
  const samples = new Float64Array(task.count);
  for (let n = 0; n < task.count; n++) {
    const start = performance.now();
    fill(message, n);
    worker.postMessage(message);
    await answer(n);
    samples[n] = performance.now() - start;
  }
  return roundTrips(samples);
}

if (isMainThread) process.stdout.write(`${JSON.stringify(await measure(readTask()))}\n`);
else serve(workerData as Task);
