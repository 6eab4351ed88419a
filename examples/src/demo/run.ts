import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Counters } from '../transfer/counters.js';
import type { Report } from '../transfer/protocol.js';
import { Child } from './child.js';

export interface RunOptions {
  file: string;
  label: string;
  /** Options of the software NIC at either end, for example 'drop=0.02,seed=1'. */
  sender: string;
  receiver: string;
  encrypt: boolean;
  signal: AbortSignal;
}

/** The result of one transfer. The counters are the sums of both NICs. */
export interface RunResult {
  label: string;
  bytes: number;
  seconds: number;
  megabytesPerSecond: number;
  packets: number;
  lost: number;
  retransmissions: number;
  sha256: string;
  sha256Equal: boolean;
}

type Side = Child<Report & { counters: Counters }>;

const DEVICE = 'soft0';

/** Transfers the file once, between two new processes. Afterwards both have ended and the copy is removed, also after an error. */
export async function run({ file, label, sender, receiver, encrypt, signal }: RunOptions): Promise<RunResult> {
  const directory = mkdtempSync(join(tmpdir(), 'verbs-demo-'));
  const children: Side[] = [];
  const start = (name: string, role: string, path: string, options: string, port: number | string): Side => {
    const args = [role, path, '--device', DEVICE, '--port', String(port), '--label', label];
    if (encrypt) args.push('--encrypt');
    const child: Side = new Child(name, 'file-transfer', args, options === '' ? DEVICE : `${DEVICE},${options}`);
    children.push(child);
    return child;
  };
  const stop = () => {
    for (const child of children) void child.end();
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    const receiving = start('receiver', 'receive', join(directory, 'copy'), receiver, 0);
    const sending = start('sender', 'send', file, sender, await receiving.listening());
    const [sent, received] = await Promise.all([sending.report(), receiving.report()]);
    const both = sum(sent.counters, received.counters);
    const seconds = sent.seconds ?? NaN;
    return {
      label,
      bytes: sent.bytes,
      seconds,
      megabytesPerSecond: sent.bytes / seconds / 1e6,
      packets: both('sent_pkts'),
      lost: both('fault_dropped'),
      retransmissions: both('retransmitted_pkts'),
      sha256: received.sha256,
      sha256Equal: sent.equal && received.equal,
    };
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    await Promise.all(children.map((child) => child.end()));
    rmSync(directory, { recursive: true, force: true });
  }
}

function sum(...all: Counters[]): (name: string) => number {
  return (name) => all.reduce((total, counters) => total + (counters[name] ?? 0), 0);
}
