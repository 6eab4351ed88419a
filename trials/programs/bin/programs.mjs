#!/usr/bin/env node
// Runs Debian's unmodified RDMA programs on the software NIC: `npm run trial programs`.
//   --only TEXT   cases whose program or arguments contain it
import { parseArgs } from 'node:util';
import { installMissing } from '../../../tools/setup/src/debian.mjs';
import { runProgram } from '../../../tools/setup/src/program.mjs';
import { allCases } from '../src/cases/index.mjs';
import { makeMachine } from '../src/machine.mjs';
import { debianPackages } from '../src/packages.mjs';
import { places } from '../src/places.mjs';
import { runCase } from '../src/pair.mjs';
import { Table } from '../src/table.mjs';

await runProgram('programs', async () => {
  const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
  installMissing(debianPackages);
  const table = new Table();
  const machine = makeMachine();
  try {
    for (const place of places()) {
      try {
        for (const each of allCases(place, machine.folder)) {
          if (!`${each.program} ${each.name}`.includes(values.only)) continue;
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
  table.print();
  return table.failed === 0 ? 0 : 1;
});
