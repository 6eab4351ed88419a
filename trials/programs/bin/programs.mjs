#!/usr/bin/env node
// Runs Debian's unmodified RDMA programs on the software NIC: `npm run trial programs`.
import process from 'node:process';
import { parseArgs } from 'node:util';
import { runCommand } from '../../../tools/check/src/command.mjs';
import { installMissing } from '../../../tools/setup/src/debian.mjs';
import { allCases } from '../src/cases/index.mjs';
import { makeMachine } from '../src/machine.mjs';
import { debianPackages } from '../src/packages.mjs';
import { places } from '../src/places.mjs';
import { mustFind } from '../../../tools/setup/src/problem.mjs';
import { runCase } from '../src/pair.mjs';
import { Table } from '../src/table.mjs';

const usage = `Usage: npm run trial programs -- [--only TEXT] [--place NAME]

Runs Debian's unmodified RDMA programs on the software NIC, with nothing configured.

  --only TEXT    cases whose program or arguments contain it
  --place NAME   processes (of this machine), host (processes of one host at its address) or hosts (two of them)
  --help         print this text`;

/** @param {string[]} args */
function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', default: '' },
      place: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  return values;
}

/** @param {ReturnType<typeof readOptions>} options */
async function runPrograms({ only, place: at }) {
  installMissing(debianPackages());
  // Nothing is configured.
  for (const name of Object.keys(process.env)) if (name.startsWith('VERBS_')) Reflect.deleteProperty(process.env, name);
  const table = new Table();
  const machine = makeMachine();
  try {
    for (const place of places()) {
      if (at !== undefined && at !== place.name) continue;
      try {
        for (const each of allCases(place, machine.folder)) {
          if (!`${each.program} ${each.name}`.includes(only)) continue;
          const failure = each.cannot ?? (await runCase(each, place, machine.environment));
          table.add(place, each, failure);
        }
      } finally {
        place.remove();
      }
    }
  } finally {
    machine.remove();
  }
  mustFind(table.cases, 'cases of that name and place');
  table.print();
  return table.failed === 0 ? 0 : 1;
}

await runCommand({ name: 'programs', usage, read: readOptions, run: runPrograms });
