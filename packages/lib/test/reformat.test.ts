import { ether, ipv4, packet, udp } from '@verbs/mlx5';
import { describe, expect, it } from 'vitest';
import type { CapturedFrame } from '../src/capture-files/index.js';
import { pair } from '../src/reformat/pairing.js';
import { parseDecap, parseEncap, reformat, type Work } from '../src/reformat/index.js';

const FRAMES: CapturedFrame[] = Array.from({ length: 500 }, (_, i) => {
  const [src, dst] =
    i % 2 === 0 ? ['02:00:00:00:00:01', '02:00:00:00:00:02'] : ['02:00:00:00:00:02', '02:00:00:00:00:01'];
  const link = ether({ src, dst });
  const data = packet(
    [link, ipv4({ src: '10.0.0.1', dst: '10.0.0.2' }), udp({ dstPort: 7 })],
    new Uint8Array(i).fill(i),
  );
  return { data, originalLength: data.length, timestamp: BigInt(i) };
});

async function pass(work: Work, frames: readonly CapturedFrame[], progress: () => void): Promise<CapturedFrame[]> {
  const passed: CapturedFrame[] = [];
  await reformat(work, frames, (frame) => passed.push({ ...frame, data: frame.data.slice() }), { progress });
  return passed;
}

describe('reformat()', () => {
  it('keeps its flows while garbage is collected, and frees its devices for the next', async () => {
    let collected = 0;
    const collect = () => {
      globalThis.gc?.();
      collected += 1;
    };
    const inside = await pass({ encap: parseEncap('vxlan,vni=1,src=10.0.0.1,dst=10.0.0.2') }, FRAMES, collect);
    expect(inside.map(({ data }) => data.length)).toEqual(FRAMES.map(({ data }) => data.length + 50));
    const back = await pass({ decap: parseDecap('vxlan,vni=1') }, inside, collect);
    expect(back).toEqual(FRAMES);
    expect(collected).toBe(16);
    expect(globalThis.gc).toBeDefined();
  });

  it('ends with its signal', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    const encap = parseEncap('gre,src=10.0.0.1,dst=10.0.0.2');
    await expect(reformat({ encap }, FRAMES, () => undefined, { signal })).rejects.toThrow('enough');
  });
});

describe('parseEncap()', () => {
  it('takes no address with an interface, which no header has', () => {
    const encap = 'vxlan,vni=1,src=fe80::1%eth0,dst=fe80::2';
    expect(() => parseEncap(encap)).toThrow('src=fe80::1%eth0 is no IPv4 or IPv6 address');
  });
});

describe('pair()', () => {
  const bytes = (...all: number[]) => Uint8Array.from(all);

  it('knows frames again by their ends', () => {
    const sent = [bytes(1, 2, 3, 4), bytes(9, 9), bytes(1, 2, 3, 5), bytes(1, 2, 3, 5), bytes(7, 7, 7, 7)];
    const longer = (frame: Uint8Array) => bytes(0, 0, 0, ...frame);
    const arrived = [sent[0], sent[2], sent[4]].map((frame) => longer(frame ?? bytes()));
    expect(pair(sent, arrived, { sent: 0, arrived: 3 })).toEqual([0, 2, 4]);
    expect(pair(arrived, [sent[2], sent[4]] as Uint8Array[], { sent: 3, arrived: 0 })).toEqual([1, 2]);
    expect(pair(sent, sent, { sent: 0, arrived: 0 })).toEqual([0, 1, 2, 3, 4]);
  });
});
