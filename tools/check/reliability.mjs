// `npm run reliability`: what the long suites have done so far, in one table.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { logPath, readLog, summaryPath } from '../lib/src/reliability/log.mjs';
import { add, rows } from '../lib/src/reliability/sums.mjs';
import { table } from '../lib/src/reliability/table.mjs';
import { runCommand } from './src/command.mjs';

/** @import { Sums } from '../lib/src/reliability/sums.mjs' */

const usage = `Usage: npm run reliability -- [--record] [--json]

What has run on this code: chaos runs and the processes killed in them, cells of the fault matrix, fuzz executions, hostile
sequences, minutes of soak. The committed sums (docs/reliability.json), and the runs of this machine since they were
recorded (.reliability/log.jsonl).

  --record   adds the runs of this machine to the committed sums
  --json     the sums as JSON
  --help     print this text`;

/** @param {string[]} args */
function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      record: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  return values;
}

/** @returns {{ recorded: string, sums: Sums }} */
function committed() {
  if (!existsSync(summaryPath)) return { recorded: '', sums: {} };
  return JSON.parse(readFileSync(summaryPath, 'utf8'));
}

/** @param {ReturnType<typeof readOptions>} options */
function reliability(options) {
  const { recorded, sums } = committed();
  const entries = readLog().filter(({ at }) => at > recorded);
  const all = add(sums, entries);
  if (options.record && entries.length > 0) {
    const last = entries
      .map(({ at }) => at)
      .sort()
      .at(-1);
    writeFileSync(summaryPath, `${JSON.stringify({ recorded: last, sums: all }, undefined, 2)}\n`);
  }
  if (options.json) {
    console.log(JSON.stringify(all, undefined, 2));
    return 0;
  }
  const lines = rows(all).map(({ suite, unit, total, last, runs, failed, at, commit, passed }) => [
    ...[suite, unit, total, last, runs, failed],
    `${at.slice(0, 16).replace('T', ' ')} ${commit}`,
    passed ? 'passed' : 'FAILED',
  ]);
  console.log(
    table(['suite', 'what', 'total', 'last run', 'runs', 'failed', 'when, and at which commit', 'result'], lines),
  );
  console.error(
    `reliability: ${entries.length} runs of this machine ${options.record ? 'recorded' : 'not recorded yet'}, in ${logPath}`,
  );
  return 0;
}

await runCommand({ name: 'reliability', usage, read: readOptions, run: reliability });
