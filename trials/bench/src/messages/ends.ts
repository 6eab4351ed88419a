import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Measurement } from '../run/measurement.js';

/** The exit code of a program that lacks something of the machine, by which the bench leaves it out. */
export const UNAVAILABLE = 69;

/** The task on the command line: PROGRAM WAY round-trip|stream SIZE COUNT. */
export interface Task {
  way: string;
  what: 'round-trip' | 'stream';
  size: number;
  count: number;
}

export interface Ends {
  /** `ready` lets the other process begin, which gets the text. Returns when the other has its last reply. */
  serve(task: Task, ready: (address?: string) => void): Promise<void>;
  measure(task: Task, address: string): Promise<Measurement>;
}

export function readTask(): Task {
  const [way = '', what, size, count] = process.argv.slice(2);
  return { way, what: what === 'stream' ? what : 'round-trip', size: Number(size), count: Number(count) };
}

/** The two ends of a measurement, each a process: the one that was started measures, the other, which it starts, serves. */
export async function play(ends: Ends): Promise<void> {
  const task = readTask();
  if (process.send !== undefined) {
    await ends.serve(task, (address = '') => process.send?.({ address }));
    process.disconnect();
    return;
  }
  const server = fork(process.argv[1] ?? '', process.argv.slice(2), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = once(server, 'exit');
  const [first] = (await Promise.race([once(server, 'message'), ended])) as [{ address: string } | number | null];
  if (first === UNAVAILABLE) process.exit(UNAVAILABLE);
  if (typeof first !== 'object' || first === null) throw new Error('the other process failed');
  const served = ended.then(([status]) => {
    // The child has printed the reason.
    if (status !== 0) throw new Error('the other process failed');
  });
  const [measurement] = await Promise.all([ends.measure(task, first.address), served]);
  process.stdout.write(`${JSON.stringify(measurement)}\n`);
}

/** A message that differs from one number to the next, at both of its ends. */
export function fill(message: Uint8Array, n: number): void {
  message[0] = n;
  message[message.length - 1] = n;
}

export function check(message: Uint8Array, n: number, size: number): void {
  const byte = n & 0xff;
  if (message.length !== size || message[0] !== byte || message[size - 1] !== byte) {
    throw new Error(`message ${n} is not the one that was sent`);
  }
}

/** What is not measured: the compiler of JavaScript sees the calls some thousand times before it knows them. */
const WARM_UP = { stream: 20_000, 'round-trip': 2000 };
/** Of large messages few are enough: the calls are not what takes the time. */
const WARM_UP_BYTES = 64 << 20;

/** The messages before those that are measured. */
export function warmUp({ what, size }: Task): number {
  return Math.min(WARM_UP[what], Math.ceil(WARM_UP_BYTES / size));
}

/** The messages of both. */
export const total = (task: Task) => warmUp(task) + task.count;

/** Whether the other end answers message `n`: of a stream, the last that warms up, and the last of all. */
export function isAnswered(task: Task, n: number): boolean {
  return task.what === 'round-trip' || n + 1 === warmUp(task) || n + 1 === total(task);
}

/** Of round trips in milliseconds. */
export function roundTrips(milliseconds: Float64Array): Measurement {
  const sorted = milliseconds.toSorted();
  const at = (share: number) => Math.round((sorted[Math.floor((sorted.length - 1) * share)] ?? NaN) * 1e6);
  return { unit: 'ns', min: at(0), median: at(0.5), p99: at(0.99), p999: at(0.999) };
}

export function rate({ count }: Task, milliseconds: number): Measurement {
  return { unit: 'messages/s', rate: Math.round((count / milliseconds) * 1000) };
}
