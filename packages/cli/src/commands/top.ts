import { setTimeout as sleep } from 'node:timers/promises';
import { processes } from '@verbs/soft';
import { Command } from 'commander';
import { painter, print, printJsonLine, screen } from '../output.js';
import { type ProcessRates, Rates } from '../top/rates.js';
import { Keys } from '../top/keys.js';
import { topLines } from '../top/table.js';
import { integer, seconds, stopSignal } from './settings.js';

interface Options {
  interval: number;
  count?: number;
  json?: boolean;
}

const COLUMNS = 80;
const ROWS = 24;
/** Shorter ones would be a program that looks all the time. */
const LEAST_INTERVAL = 0.1;
/** Between the two samples of a first set of rates that is not watched. */
const FIRST_SAMPLE = 200;

export function topCommand(): Command {
  return new Command('top')
    .description('show what your processes do with the software NIC: rates, retransmissions, states, live')
    .option('-i, --interval <seconds>', 'the time between two samples, at least 0.1', seconds(LEAST_INTERVAL), 1)
    .option('-n, --count <number>', 'leave after this many samples', integer(1, 1_000_000_000))
    .option('--json', 'print a JSON document on a line for each sample')
    .addHelpText(
      'after',
      `
Examples:
  verbs top                     until q or Ctrl-C
  verbs top -n 1                once; so it is when the output is no terminal
  verbs top --json -i 10        a line each ten seconds, for programs

It asks every process of yours that has a device of the software NIC open, except those with VERBS_SOFT_PUBLISH=0 in their
environment, and those in containers with a network of their own. A queue pair's packets are counted by its PSNs: those
that are retransmitted count once. "window" is the packets in flight and the most there may be.`,
    )
    .action(top);
}

async function top({ interval, count, json }: Options): Promise<void> {
  const stop = stopSignal();
  const live = json !== true && process.stdout.isTTY && count === undefined;
  const rates = new Rates();
  const sample = () => rates.next(processes(), performance.now());
  let keys: Keys | undefined;
  const left = new AbortController();
  const leave = () => {
    left.abort();
  };
  const signal = AbortSignal.any([stop, left.signal]);
  const samples = count ?? (live || json === true ? Infinity : 1);
  try {
    if (live) {
      screen.enter();
      keys = new Keys({ q: leave, Q: leave });
    }
    // Rates need two samples: the first one is not printed, but drawn where the next replaces it.
    const first = sample();
    if (live) draw(first);
    for (let i = 0; i < samples; i++) {
      await sleep(i === 0 ? Math.min(FIRST_SAMPLE, interval * 1000) : interval * 1000, undefined, { signal });
      const now = sample();
      if (json === true) printJsonLine({ time: new Date().toISOString(), processes: now });
      else if (live) draw(now);
      else
        print(topLines(now, { columns: process.stdout.columns || COLUMNS, paint: painter(process.stdout) }).join('\n'));
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    keys?.close();
    if (live) screen.leave();
  }
}

function draw(now: ProcessRates[]): void {
  // A terminal that does not know its size has 0.
  const columns = process.stdout.columns || COLUMNS;
  const rows = process.stdout.rows || ROWS;
  const paint = painter(process.stdout);
  const title = `verbs top  ${new Date().toLocaleTimeString()}  q leaves`;
  screen.draw([paint('dim', title.slice(0, columns)), ...topLines(now, { columns, rows: rows - 2, paint })]);
}
