import { Command } from 'commander';
import { listAllDevices, providers } from '../providers.js';
import { print, printJson } from '../output.js';
import { hex64 } from '../text.js';
import { noDevice } from './device-list.js';

export function devicesCommand(): Command {
  return new Command('devices')
    .description('list the RDMA devices, as ibv_devices does, with the library that drives each')
    .option('--json', 'print a JSON array')
    .addHelpText(
      'after',
      `
Example:
  verbs devices --json

A device of VERBS_SOFT that the software NIC leaves out comes last, with the reason ("leftOut" in JSON).
Exit code 1 if there is no device.`,
    )
    .action((options: { json?: boolean }) => devices(options.json === true));
}

async function devices(json: boolean): Promise<void> {
  const list = await listAllDevices();
  const leftOut = list.leftOut ?? [];
  if (json) {
    printJson([
      ...list.map(({ name, guid, library, nodeType, transportType }) => ({
        name,
        guid: hex64(guid),
        library,
        nodeType,
        transportType,
      })),
      ...leftOut.map(({ name, reason }) => ({ name, leftOut: reason })),
    ]);
  } else if (list.length > 0) {
    print(`    ${'device'.padEnd(16)}\t   node GUID\tlibrary`);
    print(`    ${'------'.padEnd(16)}\t----------------\t-------`);
    for (const { name, guid, library } of list) print(`    ${name.padEnd(16)}\t${hex64(guid)}\t${library}`);
    for (const { name, reason } of leftOut) print(`\n${name} is left out: ${reason}`);
  }
  const kinds = providers().flatMap(({ kind }) => kind ?? []);
  if (!json && kinds.length > 0) {
    print(`\nmodels for the software NIC: ${kinds.join(', ')} (verbs run --device NAME,kind=KIND)`);
  }
  if (list.length === 0) throw noDevice(list);
}
