import { svg } from './dom.js';
import type { PlacedPacket } from './layout.js';
import { hex, isGone, type LadderPacket } from './packet.js';

const HEAD = 8;
/** How far a packet that does not arrive is drawn, as a part of the way. */
const GONE = 0.62;

/** Between which places from the left the arrows of a pair are drawn: its two ends. */
export interface Rails {
  left: number;
  right: number;
}

/** A packet as an arrow, and its label, which is drawn above all arrows. */
export function arrow(
  { packet, from, to }: PlacedPacket,
  { left, right }: Rails,
  top: number,
): { group: SVGGElement; label: SVGTextElement } {
  const [start, end] = packet.from === 0 ? [left, right] : [right, left];
  const gone = isGone(packet);
  const part = gone ? GONE : 1;
  const line = { x1: start, y1: from - top, x2: start + (end - start) * part, y2: from - top + (to - from) * part };
  const [mark] = packet.marks;
  const classes = [
    'packet',
    mark ?? packet.role,
    ...(mark ? ['marked'] : []),
    ...(gone ? ['gone'] : []),
    ...(packet.folded ? ['folded'] : []),
  ];
  const text = labelText(packet, right - left);
  const label = svg(
    'text',
    {
      class: `label ${mark ?? packet.role}`,
      x: packet.from === 0 ? start + 10 : start - 10,
      y: line.y1 - 4,
      'text-anchor': packet.from === 0 ? 'start' : 'end',
    },
    text,
  );
  const group = svg('g', { class: classes.join(' '), tabindex: 0, role: 'button', 'aria-label': text });
  group.append(svg('line', { ...line, class: 'zone' }), svg('line', { ...line }));
  group.append(gone ? cross(line.x2, line.y2) : head(line));
  return { group, label };
}

function head({ x1, y1, x2, y2 }: { x1: number; y1: number; x2: number; y2: number }): SVGPathElement {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [dx, dy] = [((x2 - x1) / length) * HEAD, ((y2 - y1) / length) * HEAD];
  const [x, y] = [x2 - dx, y2 - dy];
  return svg('path', { d: `M${x2} ${y2}L${x - dy / 2} ${y + dx / 2}L${x + dy / 2} ${y - dx / 2}Z` });
}

function cross(x: number, y: number): SVGGElement {
  const line = (dy: number) =>
    svg('line', { x1: x - 5, y1: y - dy, x2: x + 5, y2: y + dy, 'stroke-dasharray': 'none' });
  return svg('g', { style: 'stroke-dasharray: none' }, line(5), line(-5));
}

/** Narrow ladders have shorter labels. */
function labelText(packet: LadderPacket, width: number): string {
  if (packet.folded !== undefined) return foldText(packet, packet.folded, width);
  const { name, psn, payload, marks, notes } = packet;
  const [mark] = marks;
  const what = mark === 'nak' || mark === 'rnr' ? (notes.find((note) => note.includes('NAK')) ?? name) : name;
  const sign = mark === undefined ? '' : ({ retransmission: '↻ ', repeated: '↻ ' }[mark as string] ?? '');
  const end = mark === 'lost' || mark === 'damaged' ? `  ${mark}` : '';
  const full = `${sign}${what}  ${hex(psn)}${payload > 0 ? `  ${payload} B` : ''}${end}`;
  if (full.length * 6.4 <= width - 20) return full;
  const short = shortName(what);
  const narrow = `${sign}${short} ${hex(psn)}${end}`;
  return narrow.length * 6.4 <= width - 20 ? narrow : `${sign}${short}`;
}

/** `▸ 24 × RC SEND Only  0x1 to 0x18  1536 B` */
function foldText({ name, psn }: LadderPacket, run: readonly LadderPacket[], width: number): string {
  const bytes = run.reduce((sum, { payload }) => sum + payload, 0);
  const count = `▸ ${run.length} × `;
  const full = `${count}${name}  ${hex(psn)} to ${hex(run.at(-1)?.psn ?? psn)}${bytes > 0 ? `  ${bytes} B` : ''}`;
  if (full.length * 6.4 <= width - 20) return full;
  return `${count}${shortName(name)}`;
}

function shortName(name: string): string {
  return name
    .replace(/^(RC|UC|UD|XRC) /, '')
    .replace(/RDMA /, '')
    .replace(/ATOMIC Acknowledge|Acknowledge/, 'ACK')
    .replace(/ with Immediate/, ' Imm')
    .replace(/ with Invalidate/, ' Inv')
    .replace(/: .*/, '');
}
