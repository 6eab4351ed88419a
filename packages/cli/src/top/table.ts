import { lineOf } from '@verbs/lib/text';
import type { DeviceRates, ProcessRates, QueuePairRates } from './rates.js';
import { addressText } from '../text.js';

type Style = 'bold' | 'dim' | 'yellow' | 'red';
type Paint = (style: Style, text: string) => string;

/** A line, and the colour that it has as a whole. */
interface Line {
  text: string;
  style?: Style;
}

export interface TableOptions {
  columns: number;
  /** Lines of the terminal; more are cut off, with a note. */
  rows?: number;
  paint: Paint;
}

/** Processes, devices, ports and queue pairs, the busiest queue pairs first. */
export function topLines(processes: readonly ProcessRates[], { columns, rows, paint }: TableOptions): string[] {
  const lines = processes.flatMap(({ pid, name, devices }): Line[] => [
    { text: `${lineOf(name)} (${pid})`, style: 'bold' },
    ...devices.flatMap(deviceLines),
  ]);
  if (lines.length === 0) lines.push({ text: 'no process of yours has a device of the software NIC open' });
  const limit = rows ?? Infinity;
  const kept =
    lines.length <= limit
      ? lines
      : [...lines.slice(0, limit - 1), { text: `… ${lines.length - limit + 1} more lines` }];
  return kept.map(({ text, style }) => (style === undefined ? cut(text, columns) : paint(style, cut(text, columns))));
}

function deviceLines(device: DeviceRates): Line[] {
  const { name, kind, ports, counters, perSecond, queuePairs, queuePairCount } = device;
  const rate = (counter: string) => (perSecond === undefined ? '-' : short(perSecond[counter] ?? 0));
  const bits = (counter: string) => (perSecond === undefined ? '-' : short((perSecond[counter] ?? 0) * 8));
  const states = ports.map(({ state: each }, i) => (ports.length === 1 ? each : `${i + 1}:${each}`)).join(' ');
  const total = (counter: string) => short(Number(counters[counter] ?? 0n));
  const [port] = ports;
  const head = `${name}${kind === 'roce' ? '' : ` (${kind})`}  ${states}  MTU ${port?.mtu ?? '-'}  ${addressText(port?.gid ?? '')}`;
  const lines: Line[] = [
    `  ${lineOf(head)}`,
    `    sent ${rate('sent_pkts')} packets/s, ${bits('sent_bytes')}bit/s` +
      `  received ${rate('rcvd_pkts')} packets/s, ${bits('rcvd_bytes')}bit/s`,
    `    retransmitted ${rate('retransmitted_pkts')}/s (${total('retransmitted_pkts')})` +
      `  RNR NAKs ${rate('rcvd_rnr_err')}/s (${total('rcvd_rnr_err')})` +
      `  timeouts ${total('ack_timeout')}  dropped ${total('dropped_pkts')}`,
    ...dropLines(device),
  ].map((text) => ({ text }));
  if (queuePairs.length === 0) return lines;
  lines.push({
    text: `    ${row(['QP', 'type', 'state', 'tx/s', 'rx/s', 'rtx/s', 'RNR', 'window', 'RTT', 'peer'])}`,
    style: 'dim',
  });
  for (const qp of [...queuePairs].sort((a, b) => activity(b) - activity(a))) lines.push(queuePairLine(qp));
  const left = queuePairCount - queuePairs.length;
  if (left > 0) lines.push({ text: `    … ${left} more queue pairs` });
  return lines;
}

/** Why packets were dropped: datagrams that vanish, for one. */
function dropLines({ counters }: DeviceRates): string[] {
  const drops = Object.entries(counters).filter(([name, count]) => name.startsWith('drop_') && count > 0n);
  if (drops.length === 0) return [];
  return [
    `    dropped: ${drops.map(([name, count]) => `${name.slice('drop_'.length)} ${short(Number(count))}`).join(', ')}  (verbs why PID)`,
  ];
}

function activity({ sentPacketsPerSecond = 0, receivedPacketsPerSecond = 0, state }: QueuePairRates): number {
  return sentPacketsPerSecond + receivedPacketsPerSecond + (state === 'RTS' ? 0.1 : 0);
}

function queuePairLine(qp: QueuePairRates): Line {
  const rate = (value: number | undefined) => (value === undefined ? '-' : short(value));
  const { window, inFlight, roundTripNs } = qp;
  const line = row([
    `0x${qp.qpNum.toString(16)}`,
    qp.type,
    qp.state,
    rate(qp.sentPacketsPerSecond),
    rate(qp.receivedPacketsPerSecond),
    rate(qp.retransmittedPacketsPerSecond),
    short(Number(qp.rnrNaks)),
    window === 0 ? '-' : `${inFlight}/${window}`,
    roundTripNs === 0n ? '-' : timeText(Number(roundTripNs)),
    qp.destQpNum === 0 ? '' : `${addressText(qp.destGid)} 0x${qp.destQpNum.toString(16)}`,
  ]);
  const text = `    ${lineOf(line)}`;
  if (qp.state === 'ERR' || qp.state === 'SQE') return { text, style: 'red' };
  return qp.recovering || qp.waitingRnr ? { text, style: 'yellow' } : { text };
}

const WIDTHS = [-8, -4, -5, 5, 5, 5, 4, 7, 5, 0];

function row(cells: readonly string[]): string {
  const texts = cells.map((cell, i) => {
    const width = WIDTHS[i] ?? 0;
    return width < 0 ? cell.padEnd(-width) : cell.padStart(width);
  });
  return texts.join(' ').trimEnd();
}

/** 1.5k, 20M: four characters at most, for a rate or a count. */
export function short(value: number): string {
  const units = ['', 'k', 'M', 'G', 'T', 'P'];
  let unit = 0;
  let rest = value;
  while (rest >= 999.5 && unit < units.length - 1) {
    rest /= 1000;
    unit += 1;
  }
  const digits = unit === 0 ? (Number.isInteger(rest) || rest >= 9.95 ? 0 : 1) : rest < 9.95 ? 1 : 0;
  return `${rest.toFixed(digits)}${units[unit] ?? ''}`;
}

function timeText(nanoseconds: number): string {
  return nanoseconds < 1e6 ? `${(nanoseconds / 1e3).toFixed(0)}us` : `${(nanoseconds / 1e6).toFixed(1)}ms`;
}

function cut(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`;
}
