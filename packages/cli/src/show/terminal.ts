import { explain, type Layer } from '@verbs/lib/packets';
import { layerLines } from '../encap/demo.js';
import { hex, plural, bytesText } from '../text.js';
import { type Course, type End, type Mark, type Packet, packetCount, type Pair } from './course.js';

type Colour = 'red' | 'yellow' | 'magenta' | 'cyan' | 'dim';
type Paint = (colour: Colour, text: string) => string;

const COLOURS: Readonly<Record<Mark, Colour>> = {
  lost: 'red',
  missing: 'red',
  damaged: 'red',
  nak: 'magenta',
  rnr: 'magenta',
  retransmission: 'yellow',
  repeated: 'yellow',
};

const MARK_TEXTS: Readonly<Record<Mark, string>> = {
  lost: 'lost',
  missing: 'never captured',
  damaged: 'damaged',
  nak: 'NAK',
  rnr: 'RNR NAK',
  retransmission: 'retransmitted',
  repeated: 'repeated',
};

export interface TextOptions {
  /** The packets that are printed. Default: all. */
  only?: (packet: Packet) => boolean;
  /** The packets whose headers are printed field by field. Default: none. */
  fields?: (packet: Packet) => boolean;
  paint: Paint;
}

/** The conversations, then a line for each packet. */
export function* courseLines(course: Course, { only, fields, paint }: TextOptions): Generator<string> {
  yield* course.pairs.flatMap((pair, i) => pairLines(pair, i + 1, paint));
  if (course.others > 0) yield `${plural(course.others, 'packet')} of other protocols`;
  if (course.cutOff) yield 'The file ends in the middle of a packet: it is still written, or was cut off.';
  const count = packetCount(course);
  if (count === 0) return;
  const widths = { number: Math.max(6, String(count).length), pair: String(course.pairs.length).length };
  yield '';
  yield paint('dim', `${'#'.padStart(widths.number)} ${'ms'.padStart(10)}  ${'pair'.padEnd(widths.pair + 5)} packet`);
  for (const packet of course.packets({ bytes: fields !== undefined })) {
    if (only?.(packet) === false) continue;
    yield packetLines(packet, widths, paint);
    if (fields?.(packet) === true && packet.bytes !== undefined) {
      yield* layersOf(packet, packet.bytes).flatMap(layerLines);
      yield '';
    }
  }
}

/** Only the first bytes of a packet are here, without its checksum: where the RDMA packet begins was found in the whole one. */
function layersOf({ link, length, at }: Packet, bytes: Uint8Array): Layer[] {
  const isTransport = (place: { at: number }) => place.at === at;
  return explain(bytes, { link, length, isTransport, isSealed: isTransport }).layers;
}

function pairLines({ transport, ends, tunnel, packets, bytes, marks }: Pair, number: number, paint: Paint): string[] {
  const through = tunnel === '' ? '' : ` through ${tunnel}`;
  const counts = Object.entries(marks).map(([mark, count]) =>
    paint(COLOURS[mark as Mark], `${count} ${MARK_TEXTS[mark as Mark]}`),
  );
  return [
    `pair ${number}  ${transport}  ${endText(ends[0])} > ${endText(ends[1])}${through}`,
    `        ${[plural(packets, 'packet'), bytesText(bytes), ...counts].join(', ')}`,
    ...(ends.some(({ state }) => state === 'ERR')
      ? [paint('red', '        a NAK took both ends to the state ERR')]
      : []),
  ];
}

function endText({ address, qpn }: End): string {
  return `${address} QP ${qpn === undefined ? '?' : hex(qpn)}`;
}

function packetLines(packet: Packet, widths: { number: number; pair: number }, paint: Paint): string {
  const { number, pair, from, sent, received, name, psn, payload, marks, notes } = packet;
  const gone = marks.includes('lost') || marks.includes('missing');
  const arrow = from === 0 ? (gone ? '--x ' : '--> ') : gone ? ' x--' : ' <--';
  const time = milliseconds(sent ?? received ?? 0);
  const [mark] = marks;
  const head = `${String(number).padStart(widths.number)} ${time.padStart(10)}  ${String(pair + 1).padStart(widths.pair)} ${arrow} `;
  const text = `${name}  PSN ${hex(psn)}${payload > 0 ? `  ${payload} bytes` : ''}`;
  const line = `${head}${mark === undefined ? text : paint(COLOURS[mark], text)}`;
  // Behind the packet if a terminal of 80 columns has the space, else below it.
  const note = notes.join('; ');
  if (note === '') return line;
  if (head.length + text.length + 2 + note.length <= 80) return `${line}  ${paint('dim', note)}`;
  return `${line}\n${' '.repeat(head.length + 2)}${paint('dim', note)}`;
}

/** With three digits: toFixed() would take a third of the time that a line takes. */
function milliseconds(nanoseconds: number): string {
  const micros = Math.round(nanoseconds / 1000);
  const digits = String(micros).padStart(4, '0');
  return micros < 0 || micros > Number.MAX_SAFE_INTEGER
    ? (nanoseconds / 1e6).toFixed(3)
    : `${digits.slice(0, -3)}.${digits.slice(-3)}`;
}
