import { ether, ipv4, packet, parseHeaders, udp } from '@verbs/mlx5';
import type { CapturedFrame } from '@verbs/lib/capture-files';
import { parseDecap, parseEncap, reformat, type Work } from '@verbs/lib/reformat';
import type { Chapter } from '../chapter.js';

const TUNNEL = 'vxlan,vni=42,src=10.1.0.1,dst=10.1.0.2';
const FRAMES = 1000;
const LONGEST = 1400;
const START = 1_700_000_000_000_000_000n;
const MICROSECOND = 1000n;

/** Frames of a conversation through a VXLAN tunnel and out of it, by packet reformat actions of @verbs/mlx5. */
export const reformatting: Chapter = async ({ signal, say }) => {
  say(
    `Putting ${FRAMES} Ethernet frames into a VXLAN tunnel and taking them out, with two model devices of @verbs/mlx5`,
  );
  const before = conversation();
  const inside = await pass({ encap: parseEncap(TUNNEL) }, before, signal);
  const after = await pass({ decap: parseDecap('vxlan,vni=42') }, inside, signal);
  const equal = before.length === after.length && before.every((frame, i) => same(frame, after[i]));
  const document = { frames: before.length, bytes: size(before), tunnelBytes: size(inside), equal };
  return { document: { reformat: document }, text: report(document, before[0], inside[0]) };
};

/** Both sides of one, with payloads of many lengths. */
function conversation(): CapturedFrame[] {
  const [one, two] = ['02:00:00:00:00:01', '02:00:00:00:00:02'];
  const there = [ether({ src: one, dst: two }), ipv4({ src: '192.168.0.1', dst: '192.168.0.2' })];
  const back = [ether({ src: two, dst: one }), ipv4({ src: '192.168.0.2', dst: '192.168.0.1' })];
  return Array.from({ length: FRAMES }, (_, i) => {
    const ports = i % 2 === 0 ? { srcPort: 40_000, dstPort: 7 } : { srcPort: 7, dstPort: 40_000 };
    const payload = new Uint8Array((i * 97) % LONGEST).fill(i);
    const data = packet([...(i % 2 === 0 ? there : back), udp(ports)], payload);
    return { data, originalLength: data.length, timestamp: START + BigInt(i) * MICROSECOND };
  });
}

async function pass(work: Work, frames: CapturedFrame[], signal: AbortSignal): Promise<CapturedFrame[]> {
  const passed: CapturedFrame[] = [];
  const keep = (frame: CapturedFrame) => passed.push({ ...frame, data: frame.data.slice() });
  await reformat(work, frames, keep, { signal });
  return passed;
}

function same(a: CapturedFrame, b: CapturedFrame | undefined): boolean {
  return b !== undefined && a.timestamp === b.timestamp && Buffer.compare(a.data, b.data) === 0;
}

function size(frames: CapturedFrame[]): number {
  return frames.reduce((sum, { data }) => sum + data.length, 0);
}

interface Totals {
  frames: number;
  bytes: number;
  tunnelBytes: number;
  equal: boolean;
}

function report({ frames, bytes, tunnelBytes, equal }: Totals, before?: CapturedFrame, inside?: CapturedFrame): string {
  return `
${frames} Ethernet frames, ${bytes} bytes, through packet reformat actions: ${tunnelBytes} bytes in the tunnel. Taken out
of it again, they are ${equal ? 'the same, byte for byte' : 'DIFFERENT'}. The headers of the first, as it was and in the tunnel:
${headersOf(before)}
${headersOf(inside)}
The device filled in lengths, checksum and source port of the outer headers. "npx verbs reformat" does it with captures.
`;
}

function headersOf(frame: CapturedFrame | undefined): string {
  const { layers, payload } = parseHeaders(frame?.data ?? new Uint8Array());
  const lines = layers.map(({ name, offset, fields }) => {
    const shown = Object.entries(fields).filter(([field]) => SHOWN.has(field));
    const text = shown.map(([field, value]) => `${field} ${String(value)}`).join(', ');
    return `  ${String(offset).padStart(4)}  ${name.padEnd(5)}  ${text}`;
  });
  return [...lines, `        ${payload.length} bytes`].join('\n');
}

const SHOWN = new Set(['dst', 'src', 'ttl', 'totalLength', 'srcPort', 'dstPort', 'length', 'vni']);
