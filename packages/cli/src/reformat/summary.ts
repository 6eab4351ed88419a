import { bytesText, plural } from '../text.js';
import type { Result } from './convert.js';

/** The NIC's reasons in words. */
const REASONS: Readonly<Record<string, string>> = {
  miss: 'in no such tunnel',
  no_tunnel: 'in no tunnel that is known',
  no_inner_mac: 'no Ethernet frame in the tunnel',
  no_inner_ip: 'no IP packet in the tunnel',
  not_ip: 'no IP packet',
  too_long: 'encapsulated, longer than an IP length can say',
  mtu: "encapsulated, longer than the port's frames",
  no_headroom: 'no room for more headers',
  too_short_to_send: 'shorter than an Ethernet header',
  too_long_to_send: 'longer than 4114 bytes, which no queue pair sends',
  not_delivered: 'did not arrive',
};

export function summaryText({ task, summary, seconds }: Result): string {
  const { frames, bytes, written, bytesWritten, unchanged, dropped, cutShort } = summary;
  const lines = [
    `${plural(frames, 'frame')} (${bytesText(bytes)}) read from ${task.input} in ${seconds.toFixed(2)} s`,
    `${plural(written, 'frame')} (${bytesText(bytesWritten)}) written to ${task.output}`,
  ];
  if (unchanged > 0) lines.push(`  ${unchanged} of them unchanged: no rule takes them`);
  for (const [reason, count] of Object.entries(dropped)) {
    lines.push(`${plural(count, 'frame')} dropped: ${REASONS[reason] ?? reason}`);
  }
  if (cutShort > 0) lines.push(`${plural(cutShort, 'frame')} of which the capture has only the beginning`);
  return lines.join('\n');
}

export function summaryJson({ task, formats, summary, seconds }: Result) {
  return {
    input: task.input,
    inputFormat: formats.input,
    output: task.output,
    outputFormat: formats.output,
    [task.direction]: task.text,
    seconds,
    ...summary,
  };
}
