// `npm run trial reliability`: what the long suites have done so far, in one table.
import { parseArgs } from 'node:util';
import { importLogs, logPath, readLog } from '../../tools/check/src/reliability/log.mjs';
import { add, rows } from '../../tools/check/src/reliability/sums.mjs';
import { table } from '../../tools/check/src/reliability/table.mjs';
import { runCommand } from '../../tools/check/src/command.mjs';

const usage = `Usage: npm run trial reliability -- [--import LOG]… [--json]

What has run on this code: chaos runs and the processes killed in them, cells of the fault matrix, fuzz executions, hostile
sequences, minutes of soak, each with the last command and its commit: the runs in this machine's log
(.reliability/log.jsonl). docs/reliability.md has those of all machines.

  --import   adds the runs of another checkout's .reliability/log.jsonl to this machine's; each is counted once
  --json     the sums as JSON
  --help     print this text`;

/** @param {string[]} args */
function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      import: { type: 'string', multiple: true, default: [] },
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
  const entries = readLog();
  const sums = add({}, entries);
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
  console.error(`reliability: ${entries.length} runs, in ${logPath}`);
  return 0;
}

await runCommand({ name: 'reliability', usage, read: readOptions, run: reliability });
