#!/usr/bin/env node
// `npm run trial uverbs`: what the packages send to the kernel through Debian's own libraries and a real libhbl, beside what
// a C program with the same arguments sends.
/** @import { Driver } from '../src/sysfs.mjs' */
/** @import { Interface } from '../src/scenario-run.mjs' */
import { parseArgs } from 'node:util';
import { runProgram } from '../../../tools/setup/src/program.mjs';
import { buildNative, scenarioNames } from '../src/build.mjs';
import { installForUverbs } from '../src/requirements.mjs';
import { runScenario } from '../src/scenario-run.mjs';
import { summaryOf, tableOf } from '../src/table.mjs';

const usage = `Usage: npm run trial uverbs -- [--driver mlx5|rxe|hbl] [--interface ioctl|write] [--only TEXT] [--json]

Runs each scenario twice over Debian's libibverbs, libmlx5 and librxe, in C and through @verbs/core, @verbs/mlx5 and
@verbs/hbl, on an emulated kernel, and compares what reached it, byte for byte. The table shows how many lines were compared.

  --driver NAME     mlx5, rxe or hbl; default all. hbl needs HBL_LIBRARY, the path of a real libhbl.so.1
  --interface NAME  ioctl, or write, which older kernels have; default both
  --only TEXT       the scenarios whose name contains the text
  --json            one JSON object a line
  --help            print this text`;

/**
 * @template {string} T
 * @param {string | undefined} given
 * @param {readonly T[]} all
 * @param {string} option
 * @returns {readonly T[]}
 */
function choice(given, all, option) {
  if (given === undefined) return all;
  const chosen = all.filter((one) => one === given);
  if (chosen.length === 0) throw new TypeError(`${option} ${given}: give ${all.join(' or ')}`);
  return chosen;
}

/**
 * The rows of mlx5 and rxe first, in the order of their names, then those of hbl.
 * @param {readonly Driver[]} drivers
 * @param {readonly Interface[]} interfaces
 * @returns {[string, Driver, Interface][]}
 */
function runsOf(drivers, interfaces) {
  const packaged = drivers.filter((driver) => driver !== 'hbl');
  const runs = scenarioNames('mlx5').flatMap((name) =>
    packaged.flatMap((driver) =>
      interfaces.map((by) => /** @type {[string, Driver, Interface]} */ ([name, driver, by])),
    ),
  );
  // The calls of libhbl go through the ioctl only.
  if (!drivers.includes('hbl') || !interfaces.includes('ioctl')) return runs;
  return [
    ...runs,
    ...scenarioNames('hbl').map((name) => /** @type {[string, Driver, Interface]} */ ([name, 'hbl', 'ioctl'])),
  ];
}

await runProgram('uverbs', () => {
  const { values } = parseArgs({
    options: {
      driver: { type: 'string' },
      interface: { type: 'string' },
      only: { type: 'string', default: '' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  /** @type {readonly Driver[]} */
  const drivers = choice(values.driver, ['mlx5', 'rxe', 'hbl'], '--driver');
  /** @type {readonly Interface[]} */
  const interfaces = choice(values.interface, ['ioctl', 'write'], '--interface');
  installForUverbs();
  buildNative();
  const results = [];
  for (const [name, driver, by] of runsOf(drivers, interfaces)) {
    if (!name.includes(values.only)) continue;
    const result = runScenario(name, driver, by);
    results.push(result);
    if (values.json) console.log(JSON.stringify(result));
  }
  if (!values.json) console.log(`${tableOf(results)}\n\n${summaryOf(results)}`);
  if (!results.some(({ verdict }) => verdict === 'same')) return 1;
  return results.some(({ verdict }) => verdict === 'different') ? 1 : 0;
});
