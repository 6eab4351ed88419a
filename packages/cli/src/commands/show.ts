import { Failure } from '@verbs/lib/failure';
import { Command, InvalidArgumentError, Option } from 'commander';
import { painter, printLines } from '../output.js';
import { refuseSame } from '../files.js';
import { analyze } from '../show/analyze.js';
import { type Course, type Packet, packetCount } from '../show/course.js';
import { courseJson, ofQueuePair } from '../show/json.js';
import { courseLines } from '../show/terminal.js';
import { writePage } from '../show/write-page.js';
import { plural } from '../text.js';
import { integer } from './settings.js';

interface Options {
  output?: string;
  verbose?: boolean;
  packet?: number[];
  qp?: number;
  json?: boolean;
}

/** The forms that always have every packet: what explains some of them is for text. */
const WHOLE = ['output', 'json'];

export function showCommand(): Command {
  return new Command('show')
    .description('show who sent what in a capture: losses, retransmissions, NAKs; as text or as a page with a ladder')
    .argument('<capture>', 'a pcapng or pcap file with RoCE v2 packets, also in tunnels')
    .option('-o, --output <page.html>', 'write a page for the browser, which needs no other file')
    .option('-q, --qp <number>', 'only the pairs with this queue pair, as 17 or 0x11', queuePair)
    .addOption(
      new Option('-p, --packet <number>', 'explain this packet field by field (repeatable)')
        .argParser(packetNumbers)
        .conflicts(WHOLE),
    )
    .addOption(new Option('-v, --verbose', 'explain every packet field by field').conflicts(WHOLE))
    .option('--json', 'print the pairs and the packets as JSON')
    .addHelpText(
      'after',
      `
Examples:
  verbs show run.pcapng
  verbs show -p 7 run.pcapng                  packet 7 with all fields of its headers
  verbs show run.pcapng -o run.html           the ladder, to be opened in a browser
  verbs run --show -- PROGRAM                 a run, and the ladder of its packets

A packet is lost if its receiver's capture has not got it; "not captured" if only a gap in the PSNs tells of it.`,
    )
    .action(show);
}

async function show(file: string, { output, verbose, packet = [], qp, json }: Options): Promise<void> {
  if (output !== undefined) refuseSame(file, output);
  using whole = analyze(file);
  const course = qp === undefined ? whole : ofQueuePair(whole, qp);
  if (packetCount(course) === 0) throw nothing(file, whole, qp);
  if (output !== undefined) writePage(course, output);
  if (json === true) await printLines(courseJson(course), 'json');
  if (json === true || output !== undefined) return;
  const paint = painter(process.stdout);
  if (packet.length === 0 && verbose !== true) {
    await printLines(courseLines(course, { paint }));
    return;
  }
  const chosen = new Set(packet);
  if (verbose !== true) requireOne(course, chosen);
  const fields = ({ number }: Packet) => verbose === true || chosen.has(number);
  const only = ({ number }: Packet) => chosen.size === 0 || verbose === true || chosen.has(number);
  await printLines(courseLines(course, { only, fields, paint }));
}

/** At least one of the packets is there. */
function requireOne({ file, packets }: Course, chosen: ReadonlySet<number>): void {
  let last = 0;
  for (const { number } of packets({ bytes: false })) {
    if (chosen.has(number)) return;
    last = Math.max(last, number);
  }
  throw new Failure(`${file} has no packet ${[...chosen].join(', ')}`, { hint: `the last one is ${last}` });
}

function nothing(file: string, { pairs, others, cutOff }: Course, qp: number | undefined): Failure {
  if (pairs.length > 0 && qp !== undefined) {
    const there = [...new Set(pairs.flatMap(({ ends }) => ends.map((end) => end.qpn)))];
    const known = there.filter((qpn) => qpn !== undefined).map((qpn) => `0x${qpn.toString(16)}`);
    return new Failure(`${file} has no packet of queue pair 0x${qp.toString(16)}`, {
      hint: `it has ${known.join(', ')}`,
    });
  }
  const none = cutOff ? 'is cut off in front of its first packet' : 'has no packets';
  const what = others === 0 ? none : `has ${plural(others, 'packet')}, none of them RoCE v2`;
  return new Failure(`${file} ${what}`, { hint: 'verbs capture -o FILE -- PROGRAM records RDMA packets' });
}

function queuePair(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isInteger(value) || value < 0 || value > 0xffffff) {
    throw new InvalidArgumentError('a queue pair number is needed, as 17 or 0x11.');
  }
  return value;
}

function packetNumbers(text: string, before: number[] | undefined): number[] {
  return [...(before ?? []), integer(1, Number.MAX_SAFE_INTEGER)(text)];
}
