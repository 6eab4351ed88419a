import type { DeviceList } from '@verbs/core';
import { Command, InvalidArgumentError } from 'commander';
import { describeDevice } from '../devinfo/describe.js';
import { type DeviceReport, reportDevice } from '../devinfo/report.js';
import { listAllDevices } from '../providers.js';
import { print, printJson } from '../output.js';
import { guidText, plural } from '../text.js';
import { noDevice, ofEach } from './device-list.js';

interface Options {
  ibDev?: string;
  ibPort?: number;
  list?: boolean;
  verbose?: boolean;
  json?: boolean;
}

export function devinfoCommand(): Command {
  return new Command('devinfo')
    .description('print the attributes of the devices, as ibv_devinfo does')
    .option('-d, --ib-dev <device>', 'this device only (default: all)')
    .option('-i, --ib-port <port>', 'this port only (default: all)', portNumber)
    .option('-l, --list', 'print only the names')
    .option('-v, --verbose', 'print all attributes and the GID table')
    .option('--json', 'print all attributes as JSON; 64-bit numbers are decimal strings')
    .addHelpText(
      'after',
      '\nExamples:\n  verbs devinfo -v\n  verbs devinfo -d soft0 --json\n\nExit code 1 if a device cannot be opened, too; the others are printed.',
    )
    .action(devinfo);
}

async function devinfo(options: Options): Promise<void> {
  const all = await listAllDevices();
  if (options.list) {
    listNames(all, options.json === true);
    return;
  }
  const devices = all.filter(({ name }) => options.ibDev === undefined || name === options.ibDev);
  if (devices.length === 0) {
    if (options.json) printJson([]);
    throw noDevice(all, options.ibDev);
  }
  const reports = ofEach(devices, (device) => reportDevice(device, options.ibPort));
  if (options.json) printJson(reports.map(jsonReport));
  else for (const report of reports) print(describeDevice(report, options.verbose === true).join('\n'));
}

function listNames(all: DeviceList, json: boolean): void {
  const names = all.map(({ name }) => name);
  if (json) printJson(names);
  else print(`${plural(names.length, 'HCA')} found:\n${names.map((name) => `\t${name}\n`).join('')}`);
  if (all.length === 0) throw noDevice(all);
}

function jsonReport({ device, attr, boardId, numCompVectors, ports }: DeviceReport): unknown {
  return {
    name: device.name,
    library: device.library,
    transportType: device.transportType,
    boardId,
    ...attr,
    nodeGuid: guidText(attr.nodeGuid),
    sysImageGuid: guidText(attr.sysImageGuid),
    numCompVectors,
    ports: ports.map(({ portNum, attr: port, gids }) => ({ portNum, ...port, gids })),
  };
}

function portNumber(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 255) throw new InvalidArgumentError('ports count from 1.');
  return port;
}
