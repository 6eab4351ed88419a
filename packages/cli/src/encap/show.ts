import type * as hblModule from '@verbs/hbl';
import Table from 'cli-table3';
import { Failure } from '@verbs/lib/failure';
import { type PortReport, probePort } from './probe.js';

type Hbl = typeof hblModule;

export interface Selection {
  device: string | undefined;
  portNum: number | undefined;
}

/** The ports of all devices that have encapsulations, or of the selected one. */
export function reportPorts(hbl: Hbl, { device, portNum }: Selection): PortReport[] {
  const list = hbl.listDevices();
  if (list.length === 0)
    throw new Failure(`no device with encapsulations found: ${list.reason ?? 'no library has one'}`);
  const chosen = list.filter(({ name }) => device === undefined || name === device);
  if (chosen.length === 0) {
    throw new Failure(`there is no device ${device ?? ''} with encapsulations`, {
      hint: `there is ${list.map(({ name }) => name).join(', ')}`,
    });
  }
  return chosen.flatMap((info) => {
    using context = hbl.openDevice(info);
    const { physPortCnt } = context.queryDevice();
    if (portNum !== undefined && portNum > physPortCnt) {
      throw new Failure(`${info.name} has no port ${portNum}`, { hint: `its ports count from 1 to ${physPortCnt}` });
    }
    const ports = portNum === undefined ? Array.from({ length: physPortCnt }, (_, i) => i + 1) : [portNum];
    return ports.map((port) => probePort(hbl, context, port));
  });
}

export function portTable(reports: readonly PortReport[]): string {
  const table = new Table({
    head: ['device', 'port', 'encaps', 'free', 'types', 'FIFOs', 'free', 'types', 'entries', 'bp'],
    // 80 columns.
    style: { head: [], border: [], 'padding-right': 0 },
  });
  for (const { device, portNum, down, encaps, usrFifos } of reports) {
    const { sizeBytes, bpThreshBytes } = usrFifos ?? {};
    table.push([
      device,
      down ? `${portNum} (down)` : portNum,
      encaps?.reported ?? '-',
      ranges(encaps?.free ?? []),
      encaps?.types.join('\n') ?? '-',
      usrFifos?.reported ?? '-',
      ranges(usrFifos?.free ?? []),
      usrFifos?.types.join('\n') ?? '-',
      sizeBytes === undefined ? '-' : sizeBytes / 8,
      bpThreshBytes === undefined ? '-' : `${bpThreshBytes} B`,
    ]);
  }
  return table.toString();
}

/** 1-5, 7: a range where numbers follow each other. */
export function ranges(numbers: readonly number[]): string {
  const runs: [first: number, last: number][] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run?.[1] === number - 1) run[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(', ') || '-';
}
