import { getSystemErrorName } from 'node:util';
import { lineOf } from '@verbs/lib/text';
import type { ReasonReport } from '@verbs/soft';
import type { Painter } from '../output.js';
import { addressText } from '../text.js';

/** What happened, why, and what would help. */
export function reasonLines(reason: ReasonReport, paint: Painter): string[] {
  const { time, pid, text, help, peers, count } = reason;
  const often = count > 1n ? `, ${count} times` : '';
  const lines = [
    `${paint('dim', `${time.slice(11, 26)} ${pid}`)} ${paint('bold', lineOf(about(reason)))}: ${lineOf(text)}${often}`,
  ];
  if (peers !== undefined) lines.push(`    there: ${lineOf(peers.text)}`);
  const remedy = peers === undefined ? help : peers.help;
  if (remedy !== '') lines.push(`    help:  ${lineOf(remedy)}`);
  return lines;
}

/** The call with its error, the completion with its status, or what became of the packet. */
function about({ place, device, call, errno, status, nak, qpNum, peerQpNum, peerGid }: ReasonReport): string {
  const qp = qpNum === undefined ? device : `${device} queue pair ${hex(qpNum)}`;
  const peer = [peerQpNum === undefined ? '' : hex(peerQpNum), addressText(peerGid ?? '')].filter(Boolean).join(' of ');
  switch (place) {
    case 'call':
      return `${call ?? ''} of ${qp}: ${errno === undefined ? 'refused' : errorName(errno)}`;
    case 'completion':
      return `${call ?? ''} of ${qp}: ${status ?? 'failed'}`;
    case 'responder': {
      const own = status === undefined ? '' : `, its own receive request fails with ${status}`;
      const whose = peer === '' ? 'the peer' : peer;
      if (nak === undefined || nak === '') return `${qp} cannot take what ${whose} sends${own}`;
      return `${qp} refuses what ${whose} asks (NAK: ${nak})${own}`;
    }
    case 'departure':
      return `${qp} sends nothing to ${peer}`;
    case 'arrival':
      return `${qp} drops a packet${peer === '' ? '' : ` from ${peer}`}`;
  }
}

function hex(number: number): string {
  return `0x${number.toString(16)}`;
}

function errorName(errno: number): string {
  try {
    return getSystemErrorName(-errno);
  } catch {
    return `errno ${errno}`;
  }
}
