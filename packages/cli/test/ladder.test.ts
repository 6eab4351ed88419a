import { WrOpcode } from '@verbs/core';
import { describe, expect, it } from 'vitest';
import { fold, foldOf } from '../browser/fold.js';
import { layOut, visible } from '../browser/layout.js';
import { type LadderPacket, packetsOf } from '../browser/packet.js';
import { pageData } from '../src/show/page-data.js';
import { captures, record } from './recorded.js';

captures();

describe('the layout of the ladder', () => {
  it('keeps the order of times, and finds what a window shows', async () => {
    const rows = packetsOf(
      pageData(
        await record(async ({ requester, responder, pair }) => {
          const [one] = pair();
          const remote = { remoteAddr: responder.mr.addr, rkey: responder.mr.rkey };
          for (let i = 0; i < 200; i++)
            await one?.send({ opcode: WrOpcode.RDMA_WRITE, sgList: [{ mr: requester.mr, length: 20 }], ...remote });
        }),
      ),
    );
    const layout = layOut(rows);
    expect(layout.placed).toHaveLength(rows.length);
    for (const [i, { from, to }] of layout.placed.entries()) {
      expect(to).toBeGreaterThan(from);
      expect(from).toBeGreaterThanOrEqual(layout.placed[i - 1]?.from ?? 0);
      expect(to).toBeLessThan(layout.height);
    }
    const middle = layout.height / 2;
    const inWindow = layout.placed.filter(({ from, to }) => to >= middle && from <= middle + 300);
    expect(visible(layout, middle, middle + 300)).toEqual(inWindow);
    expect(inWindow.length).toBeGreaterThan(3);
  });
});

describe('the fold of the ladder', () => {
  const at = (number: number, from: 0 | 1, sent: number, received: number, more: Partial<LadderPacket> = {}) =>
    ({ number, pair: 0, from, sent, received, name: 'RC SEND Only', marks: [], psn: number, ...more }) as LadderPacket;
  const numbers = (packets: readonly LadderPacket[]) =>
    packets.map(({ number, folded }) => (folded === undefined ? number : folded.map((each) => each.number)));

  it('makes one arrow of a burst, and leaves round trips as they are', () => {
    const burst = [1, 2, 3, 4, 5].map((n) => at(n, 0, n, 100 + n));
    const answers = [6, 7, 8, 9].map((n) => at(n, 1, 100 + n, 200 + n, { name: 'RC Acknowledge' }));
    const turns = [10, 11, 12, 13, 14, 15].map((n) => at(n, (n % 2) as 0 | 1, 1000 + 10 * n, 1005 + 10 * n));
    const folded = fold([...burst, ...answers, ...turns]);
    expect(numbers(folded)).toEqual([[1, 2, 3, 4, 5], [6, 7, 8, 9], 10, 11, 12, 13, 14, 15]);
    expect(folded[0]).toMatchObject({ number: 1, sent: 1, received: 105, psn: 1 });
    expect(foldOf(folded, at(4, 0, 4, 104))).toBe(1);
    expect(foldOf(folded, at(12, 0, 0, 0))).toBeUndefined();
    expect(numbers(fold([...burst, ...answers], new Set([1])))).toEqual([1, 2, 3, 4, 5, [6, 7, 8, 9]]);
  });

  it('shows each packet that is lost, repeated or of another operation, and short runs', () => {
    const lost = at(3, 0, 3, 103, { marks: ['lost'] });
    const other = at(8, 0, 8, 108, { name: 'RC RDMA WRITE Only' });
    const rest = [1, 2, 4, 5, 6, 7, 9, 10].map((n) => at(n, 0, n, 100 + n));
    const all = [...rest, lost, other].sort((a, b) => a.number - b.number);
    expect(numbers(fold(all))).toEqual([1, 2, 3, [4, 5, 6, 7], 8, 9, 10]);
    expect(numbers(fold([1, 2, 3].map((n) => at(n, 0, n, 9))))).toEqual([1, 2, 3]);
  });

  it('keeps every packet of a real burst', async () => {
    const rows = packetsOf(
      pageData(
        await record(async ({ requester, responder, pair }) => {
          const [one] = pair();
          const remote = { remoteAddr: responder.mr.addr, rkey: responder.mr.rkey };
          const sgList = [{ mr: requester.mr, length: 20 }];
          const sends = Array.from({ length: 12 }, () => one?.send({ opcode: WrOpcode.RDMA_WRITE, sgList, ...remote }));
          for (const sent of sends) await sent;
        }),
      ),
    );
    const folded = fold(rows);
    expect(folded.flatMap((each) => each.folded ?? [each])).toHaveLength(rows.length);
    const { placed } = layOut(folded);
    expect(placed).toHaveLength(folded.length);
  });
});
