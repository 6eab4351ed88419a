// `npm run reliability`: what the long suites have done so far, in one table.
import { parseArgs } from 'node:util';
import { importLogs, logPath } from '../lib/src/reliability/log.mjs';
import { everything, writeSummary } from '../lib/src/reliability/summary.mjs';
import { rows } from '../lib/src/reliability/sums.mjs';
import { table } from '../lib/src/reliability/table.mjs';
import { runCommand } from './src/command.mjs';

const usage = `Usage: npm run reliability -- [--import LOG]… [--record] [--json]

What has run on this code: chaos runs and the processes killed in them, cells of the fault matrix, fuzz executions, hostile
sequences, minutes of soak, each with the last command and its commit. The committed sums (docs/reliability.json), and the runs of this machine since they were
recorded (.reliability/log.jsonl).

  --import   adds the runs of another checkout's .reliability/log.jsonl to this machine's; each is counted once
  --record   adds the runs of this machine to the committed sums
  --json     the sums as JSON
  --help     print this text`;

/** @param {string[]} args */
function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      import: { type: 'string', multiple: true, default: [] },
      record: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  return values;
}

/** @param {ReturnType<typeof readOptions>} options */
function reliability(options) {
  const imported = importLogs(options.import);
  if (options.import.length > 0) console.error(`reliability: ${imported} runs imported`);
  const all = everything();
  const { sums, entries } = all;
  if (options.record && entries.length > 0) writeSummary(all);
  if (options.json) {
    console.log(JSON.stringify(sums, undefined, 2));
    return 0;
  }
  const lines = rows(sums).map(({ suite, unit, total, last, runs, failed, at, commit, command, passed }) => [
    ...[suite, unit, total, last, runs, failed],
    `${at.slice(0, 16).replace('T', ' ')} ${commit}`,
    passed ? 'passed' : 'FAILED',
    command,
  ]);
  console.log(
    table(
      ['suite', 'what', 'total', 'last run', 'runs', 'failed', 'when, and at which commit', 'result', 'command'],
      lines,
    ),
  );
  console.error(
    `reliability: ${entries.length} runs of this machine ${options.record ? 'recorded' : 'not recorded yet'}, in ${logPath}`,
  );
  return 0;
}

await runCommand({ name: 'reliability', usage, read: readOptions, run: reliability });
