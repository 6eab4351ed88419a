// Messages between two threads of a process: message-port.mjs port round-trip|stream SIZE COUNT
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { check, fill, isAnswered, rate, readTask, roundTrips, type Task, total, warmUp } from './ends.js';

/** Messages of a stream on their way: posted ones wait in memory, without a limit. */
const WINDOW = 1024;

const answers = (task: Task, n: number) => isAnswered(task, n) || (n + 1) % WINDOW === 0;

function serve(task: Task): void {
  let n = 0;
  parentPort?.on('message', (message: Uint8Array) => {
    check(message, n, task.size);
    if (answers(task, n)) parentPort?.postMessage(message);
    if (++n === total(task)) parentPort?.close();
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
  const samples = new Float64Array(total(task));
  let begin = 0;
  for (let n = 0; n < total(task); n++) {
    if (n === warmUp(task)) begin = performance.now();
    const start = performance.now();
    fill(message, n);
    worker.postMessage(message);
    if (!answers(task, n)) continue;
    await answer(n);
    samples[n] = performance.now() - start;
  }
  const duration = performance.now() - begin;
  return task.what === 'stream' ? rate(task, duration) : roundTrips(samples.subarray(warmUp(task)));
}

if (isMainThread) process.stdout.write(`${JSON.stringify(await measure(readTask()))}\n`);
else serve(workerData as Task);
