// `npm run trial faults`: every operation of the software NIC under every fault, in virtual time, and two real processes
// of which one comes to harm.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { setUp } from '../../tools/setup/src/set-up.mjs';
import { runCommand } from '../../tools/check/src/command.mjs';
import { record } from '../../tools/check/src/reliability/log.mjs';
import { runMatrix, runProcesses } from './src/faults.mjs';
import { buildSoft } from './src/soft-programs.mjs';

const usage = `Usage: npm run trial faults -- [--seed N] [--cells N] [--only CELL] [--list] [--json]

A cell is one operation under one fault: a stream of messages, in virtual time, of which everything that both ends see is
checked. The seed decides everything that happens by chance, so that a run with the same seed ends with the same hash.

  --seed N      a seed of your own; a new one if not given
  --cells N     how many cells; 2000 if not given
  --only CELL   one cell, OPERATION/FAULT/REPETITION, which runs as it does among the others
  --list        a line for every cell, with its hash
  --json        the results as one JSON object
  --help        print this text`;

/** @param {string[]} args */
function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: 'string', default: randomBytes(4).readUInt32LE().toString() },
      cells: { type: 'string', default: '2000' },
      only: { type: 'string' },
      list: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  for (const name of /** @type {const} */ (['seed', 'cells'])) {
    if (!/^\d+$/.test(values[name])) throw new TypeError(`--${name} ${values[name]}: give a whole number`);
  }
  return values;
}

/** @param {ReturnType<typeof readOptions>} options */
function testFaults(options) {
  buildSoft(setUp({ forTests: false }), ['fault_matrix', 'fault_processes']);
  const matrix = runMatrix(options);
  // A cell that is repeated alone has nothing to do with the real processes.
  if (options.only !== undefined || matrix.status === 2) {
    if (options.json) console.log(matrix.text);
    return matrix.status;
  }
  const processes = runProcesses(options);
  if (options.json) {
    console.log(JSON.stringify({ ...JSON.parse(matrix.text), processes: processes.results }, undefined, 2));
  }
  const passed = matrix.status === 0 && processes.status === 0;
  const figures = { cells: Number(options.cells) };
  record({ suite: 'faults', passed, figures, detail: `seed ${options.seed}` });
  return passed ? 0 : 1;
}

await runCommand({ name: 'faults', usage, read: readOptions, run: testFaults });
