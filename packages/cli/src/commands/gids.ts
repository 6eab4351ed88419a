import { readdirSync, readFileSync } from 'node:fs';
import { type DeviceInfo, enumName, type GidEntry, GidType, openDevice } from '@verbs/core';
import { Command } from 'commander';
import { listAllDevices } from '../providers.js';
import { print, printJson } from '../output.js';
import { noDevice, ofEach } from './device-list.js';

interface Row {
  device: string;
  port: number;
  index: number;
  gid: string;
  type: string;
  interface: string;
  default: boolean;
}

export function gidsCommand(): Command {
  return new Command('gids')
    .description('print the GIDs of the ports, as show_gids does, and which one connections use')
    .option('-d, --ib-dev <device>', 'this device only (default: all)')
    .option('--json', 'print a JSON array')
    .addHelpText(
      'after',
      '\nExample:\n  verbs gids -d soft0\n\nThe GID with the mark * is the default of connections.\nExit code 1 if a device cannot be opened, too; the others are printed.',
    )
    .action(gids);
}

async function gids({ ibDev, json }: { ibDev?: string; json?: boolean }): Promise<void> {
  const all = await listAllDevices();
  const devices = all.filter(({ name }) => ibDev === undefined || name === ibDev);
  const rows = ofEach(devices, rowsOf).flat();
  if (json === true) printJson(rows);
  else if (rows.length > 0) print(table(rows));
  if (devices.length === 0) throw noDevice(all, ibDev);
}

function rowsOf(device: DeviceInfo): Row[] {
  using context = openDevice(device);
  const ports = Array.from({ length: context.queryDevice().physPortCnt }, (_, i) => i + 1);
  return ports.flatMap((port) => {
    const entries = context.gidTable(port);
    const chosen = entries.length === 0 ? undefined : context.defaultGid(port).index;
    return entries.map((entry) => rowOf(device.name, entry, entry.index === chosen));
  });
}

/** By number: a newer library may have further types. */
const KINDS: Readonly<Record<number, string>> = {
  [GidType.IB]: 'IB',
  [GidType.ROCE_V1]: 'RoCE v1',
  [GidType.ROCE_V2]: 'RoCE v2',
};

function rowOf(device: string, { portNum: port, index, gid, type, ndevIfindex }: GidEntry, isDefault: boolean): Row {
  const name = KINDS[type] ?? enumName(GidType, type);
  return { device, port, index, gid, type: name, interface: interfaceOf(ndevIfindex), default: isDefault };
}

/** The name of a network interface; '' for none. */
function interfaceOf(index: number): string {
  if (index === 0) return '';
  try {
    const found = readdirSync('/sys/class/net').find(
      (name) => readFileSync(`/sys/class/net/${name}/ifindex`, 'utf8').trim() === String(index),
    );
    return found ?? String(index);
  } catch {
    return String(index);
  }
}

function table(rows: readonly Row[]): string {
  const head = ['', 'DEVICE', 'PORT', 'INDEX', 'GID', 'TYPE', 'INTERFACE'];
  const lines = rows.map((row) => [
    row.default ? '*' : '',
    row.device,
    String(row.port),
    String(row.index),
    row.gid,
    row.type,
    row.interface,
  ]);
  const widths = head.map((title, i) => Math.max(title.length, ...lines.map((line) => line[i]?.length ?? 0)));
  return [head, ...lines]
    .map((line) =>
      line
        .map((text, i) => text.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
