import { Failure } from '@verbs/lib/failure';
import { lineOf } from '@verbs/lib/text';
import { processes } from '@verbs/soft';
import { Command } from 'commander';
import { print, printJson } from '../output.js';
import { integer } from './settings.js';

interface Options {
  device?: string;
  pid?: number;
  json?: boolean;
}

interface Row {
  pid: number;
  program: string;
  device: string;
  counters: Record<string, bigint>;
}

export function statCommand(): Command {
  return new Command('stat')
    .description('print the counters of the software NIC in your processes, as "rdma statistic" does')
    .option('-d, --device <device>', 'devices of this name only')
    .option('-p, --pid <pid>', 'this process only', integer(1, 2 ** 22))
    .option('--json', 'print a JSON array')
    .addHelpText(
      'after',
      `
Examples:
  verbs stat
  verbs stat -d soft0 --json

Counters of the kernel's devices: rdma statistic. Rates: verbs top.`,
    )
    .action(stat);
}

function stat({ device, pid, json }: Options): void {
  const all = processes();
  const rows: Row[] = all
    .filter((process) => pid === undefined || process.pid === pid)
    .flatMap(({ pid: id, program, devices }) =>
      devices
        .filter(({ name }) => device === undefined || name === device)
        .map(({ name, counters }) => ({ pid: id, program, device: name, counters })),
    );
  if (json === true) printJson(rows);
  else for (const row of rows) print(rowText(row));
  if (rows.length > 0) return;
  const there = all.flatMap(({ pid: id, devices }) => devices.map(({ name }) => `${name} of ${id}`));
  // Who asks for a certain one misses it; else there is nothing to tell, which is no failure, as in `verbs top`.
  if (device !== undefined || pid !== undefined) {
    const hint =
      there.length === 0 ? 'a device has counters while a program has it open' : `open are ${there.join(', ')}`;
    throw new Failure('no such device is open', { hint });
  }
  if (json !== true) print('no process of yours has a device of the software NIC open');
}

const COLUMNS = 78;

/** As iproute2 prints it: the link, then names and values one after the other, here in lines of 80 columns. */
function rowText({ pid, program, device, counters }: Row): string {
  const lines = [`link ${lineOf(device)} pid ${pid} comm ${lineOf(program)}`];
  let line = '';
  for (const [name, value] of Object.entries(counters)) {
    const pair = `${name} ${value}`;
    if (line !== '' && line.length + 1 + pair.length > COLUMNS) {
      lines.push(`  ${line}`);
      line = '';
    }
    line += line === '' ? pair : ` ${pair}`;
  }
  return [...lines, `  ${line}`].join('\n');
}
