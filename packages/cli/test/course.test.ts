import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { WrOpcode } from '@verbs/core';
import { softNic } from '@verbs/soft';
import { describe, expect, it, vi } from 'vitest';
import type { Course } from '../src/show/course.js';
import { addPsn, psnDistance } from '../src/show/psn.js';
import { ACKNOWLEDGE, RcCapture, type RcPacket, READ_REQUEST, SEND_ONLY } from './rc-capture.js';
import { captures, place, read, record } from './recorded.js';
import { verbs } from './verbs.js';

captures();

const lines = ({ packets }: Course) =>
  Array.from(packets(), ({ from, name, marks }) => [from === 0 ? '>' : '<', name, ...marks].join(' '));

/** An RC SEND Only of four bytes. */
function seen(direction: 'sent' | 'received', microseconds: number, psn: number, damaged?: 'data'): RcPacket {
  const ends = { from: '127.0.0.1', to: '127.0.0.2', destQpn: 0x11 };
  const time = BigInt(microseconds) * 1000n;
  return { direction, time, ...ends, opcode: SEND_ONLY, psn, payload: 4, ...(damaged && { damaged }) };
}

function written(...packets: RcPacket[]): void {
  using capture = new RcCapture(place.file);
  for (const packet of packets) capture.add(packet);
}

describe('the course of a capture', () => {
  it('has the pairs with both numbers, and the packets of a WRITE and a READ', async () => {
    const course = await record(async ({ requester, responder, pair }) => {
      for (const qp of [pair()[0], pair()[0]]) {
        const remote = { remoteAddr: responder.mr.addr, rkey: responder.mr.rkey };
        await qp?.send({ opcode: WrOpcode.RDMA_WRITE, sgList: [{ mr: requester.mr, length: 1500 }], ...remote });
        await qp?.send({ opcode: WrOpcode.RDMA_READ, sgList: [{ mr: requester.mr, length: 2500 }], ...remote });
      }
    });
    expect(course.pairs).toHaveLength(2);
    for (const { transport, ends, packets, marks } of course.pairs) {
      expect([transport, packets, marks]).toEqual(['RC', 7, {}]);
      expect(ends).toMatchObject([
        { address: '127.77.4.1', requests: 3, state: 'RTS' },
        { address: '127.77.4.2', requests: 0, state: 'RTR' },
      ]);
      expect(ends[0].qpn).toBeGreaterThan(1);
    }
    expect(lines(course).slice(0, 7)).toEqual([
      '> RC RDMA WRITE First',
      '> RC RDMA WRITE Last',
      '< RC Acknowledge',
      '> RC RDMA READ Request',
      '< RC RDMA READ response First',
      '< RC RDMA READ response Middle',
      '< RC RDMA READ response Last',
    ]);
    expect(course.all[0]).toMatchObject({ number: 1, pair: 0, payload: 1024, sent: 0 });
  });

  it('knows that a packet was lost before the capture, by the gap in the PSNs, and its retransmission', async () => {
    const course = await record(
      async ({ requester, responder, pair }) => {
        const remote = { remoteAddr: responder.mr.addr, rkey: responder.mr.rkey };
        const [qp] = pair();
        await qp?.send({ opcode: WrOpcode.RDMA_WRITE, sgList: [{ mr: requester.mr, length: 3000 }], ...remote });
      },
      { faults: { drop: true, opcode: 'RC RDMA WRITE Middle', nth: 1 } },
    );
    const course0 = lines(course);
    expect(course0.slice(0, 3)).toEqual(['> RC RDMA WRITE First', '> not captured missing', '> RC RDMA WRITE Last']);
    expect(course0).toContain('< RC Acknowledge nak');
    expect(course0).toContain('> RC RDMA WRITE Middle retransmission');
    expect(course.pairs[0]?.marks).toMatchObject({ missing: 1, nak: 1 });
  });

  it('knows it of the responses to a READ, too', () => {
    const [FIRST, MIDDLE, LAST] = [0x0d, 0x0e, 0x0f] as const;
    const rows: [opcode: number, psn: number, payload: number][] = [
      [READ_REQUEST, 10, 4096],
      [FIRST, 10, 1024],
      [MIDDLE, 12, 1024],
      [LAST, 13, 1024],
      [READ_REQUEST, 11, 3072],
      [FIRST, 11, 1024],
      [READ_REQUEST, 14, 2048],
      [LAST, 15, 1024],
    ];
    {
      using capture = new RcCapture(place.file);
      for (const [i, [opcode, psn, payload]] of rows.entries()) {
        const asks = opcode === READ_REQUEST;
        const [from, to, destQpn] = asks ? ['127.0.0.3', '127.0.0.4', 0x22] : ['127.0.0.4', '127.0.0.3', 0x11];
        const direction = asks ? 'sent' : 'received';
        const time = 1_700_000_000_000_000_000n + BigInt(i) * 1000n;
        const aeth = opcode === FIRST || opcode === LAST ? { aeth: { syndrome: 0, msn: 1 } } : {};
        capture.add({ direction, time, from, to, opcode, destQpn, psn, payload, ...aeth });
      }
    }
    const course = read(place.file);
    expect(lines(course)).toEqual([
      '> RC RDMA READ Request',
      '< RC RDMA READ response First',
      '< not captured missing',
      '< RC RDMA READ response Middle',
      '< RC RDMA READ response Last',
      '> RC RDMA READ Request retransmission',
      '< RC RDMA READ response First',
      '> RC RDMA READ Request',
      '< not captured missing',
      '< RC RDMA READ response Last',
    ]);
    expect(course.all[2]).toMatchObject({ psn: 11, notes: ['a response with this PSN was lost'] });
  });

  it('takes the next connection of the same queue pairs, with other PSNs, for no retransmissions', () => {
    {
      using capture = new RcCapture(place.file);
      // A program after the other, as of a test suite; and what the last one sends again, of which the capture has the first.
      for (const [i, psn] of [5_000_000, 5_000_001, 1000, 1001, 9_000_000, 9_000_001, 9_000_000].entries()) {
        const time = 1_700_000_000_000_000_000n + BigInt(i) * 1000n;
        const ends = { from: '127.0.0.3', to: '127.0.0.4', destQpn: 0x11 };
        capture.add({ direction: 'sent', time, ...ends, opcode: SEND_ONLY, psn, payload: 64 });
      }
    }
    expect(lines(read(place.file))).toEqual([
      ...Array<string>(6).fill('> RC SEND Only'),
      '> RC SEND Only retransmission',
    ]);
  });

  it('tells that a NAK took both queue pairs to ERR', async () => {
    const course = await record(async ({ requester, responder, pair }) => {
      const remote = { remoteAddr: responder.mr.addr, rkey: responder.mr.rkey + 0x100 };
      const [qp] = pair();
      await qp
        ?.send({ opcode: WrOpcode.RDMA_WRITE, sgList: [{ mr: requester.mr, length: 8 }], ...remote })
        .catch(() => undefined);
    });
    expect(lines(course)).toEqual(['> RC RDMA WRITE Only', '< RC Acknowledge nak']);
    expect(course.pairs[0]?.ends.map(({ state }) => state)).toEqual(['ERR', 'ERR']);
  });

  it('tells that queue pairs which a NAK ended were connected anew', () => {
    const one = { direction: 'sent', from: '127.0.0.3', to: '127.0.0.4', destQpn: 0x11 } as const;
    const two = { direction: 'received', from: '127.0.0.4', to: '127.0.0.3', destQpn: 0x22 } as const;
    const [ok, remoteAccess] = [0x1f, 0x62];
    const packets = (syndrome: number): RcPacket[] => [
      { ...one, time: 0n, opcode: SEND_ONLY, psn: 1000, payload: 64 },
      { ...two, time: 1000n, opcode: ACKNOWLEDGE, psn: 1000, aeth: { syndrome: remoteAccess, msn: 0 } },
      { ...one, time: 2000n, opcode: SEND_ONLY, psn: 9_000_000, payload: 64 },
      { ...two, time: 3000n, opcode: ACKNOWLEDGE, psn: 9_000_000, aeth: { syndrome, msn: 1 } },
    ];
    const states = () => read(place.file).pairs[0]?.ends.map(({ state }) => state);
    written(...packets(ok));
    expect(states()).toEqual(['RTS', 'RTR']);
    written(...packets(remoteAccess));
    expect(states()).toEqual(['ERR', 'ERR']);
  });

  it('shows that a receiver was not ready', async () => {
    const course = await record(async ({ requester, responder, pair }) => {
      const [one, two] = pair();
      const sent = one?.send({ opcode: WrOpcode.SEND, sgList: [{ mr: requester.mr, length: 10 }] });
      // However late the first packet is: the receive comes after its NAK.
      await vi.waitFor(() => {
        expect(softNic('one').stats()).not.toMatchObject({ rcvd_rnr_err: 0n });
      });
      two?.postRecv({ sgList: [{ mr: responder.mr, length: 64 }] });
      await sent;
    });
    expect(lines(course).slice(0, 3)).toEqual([
      '> RC SEND Only',
      '< RC Acknowledge rnr',
      '> RC SEND Only retransmission',
    ]);
    expect(course.all[1]?.notes.join()).toMatch(/RNR NAK: no receive was posted, wait [\d.]+ ms/);
  });

  it('joins what both ends saw: the way of a packet, losses and damages', () => {
    written(seen('sent', 0, 1), seen('received', 5, 1));
    expect(read(place.file).all).toMatchObject([{ sent: 0, received: 5000, marks: [] }]);

    // The first of two is lost; its second transmission arrives.
    const lossy = [seen('sent', 0, 7), seen('sent', 9, 7), seen('received', 12, 7)];
    written(...lossy);
    expect(read(place.file).all).toMatchObject([
      { sent: 0, marks: ['lost'] },
      { sent: 9000, received: 12_000, marks: ['retransmission'] },
    ]);

    // Without the receiver's capture nobody knows.
    written(seen('sent', 0, 7));
    expect(lines(read(place.file))).toEqual(['> RC SEND Only']);

    // Nor without that of the process, which has its address in common with the sender's.
    const time = 1_700_000_000_000_000_000n;
    const message = { time, from: '127.0.0.1', to: '127.0.0.1', opcode: SEND_ONLY, psn: 1, payload: 64 };
    const answer = { ...message, opcode: ACKNOWLEDGE, aeth: { syndrome: 0, msn: 1 }, destQpn: 0x22 };
    for (const bothEnds of [false, true]) {
      {
        using capture = new RcCapture(place.file);
        capture.add({ ...message, direction: 'sent', destQpn: 0x11 });
        if (bothEnds) capture.add({ ...answer, direction: 'sent' });
        capture.add({ ...answer, direction: 'received', time: time + 5000n });
      }
      expect(read(place.file).all[0]?.marks).toEqual(bothEnds ? ['lost'] : []);
    }

    // An answer whose queue pair number was damaged is one of the receiver's, and no sign of a capture there.
    for (const isAnswered of [true, false]) {
      {
        using capture = new RcCapture(place.file);
        capture.add({ ...message, direction: 'sent', destQpn: 0x22 });
        const answers = { ...answer, direction: 'received' as const, destQpn: 0x11 };
        capture.add({ ...answers, time: time + 1000n, damaged: 'number' });
        capture.add({ ...message, direction: 'sent', destQpn: 0x22, time: time + 2000n });
        if (isAnswered) capture.add({ ...answers, time: time + 3000n });
      }
      const { pairs } = read(place.file);
      expect(pairs.map(({ ends, marks }) => [...ends.map(({ qpn }) => qpn), marks])).toEqual([
        [isAnswered ? 0x11 : undefined, 0x22, { damaged: 1, retransmission: 1 }],
      ]);
      if (isAnswered) expect(lines(read(place.file))[1]).toBe('< RC Acknowledge damaged');
    }

    const good = [1, 2, 3].flatMap((psn) => [seen('sent', psn, psn), seen('received', psn + 1, psn)]);
    written(...good, seen('sent', 9, 4), seen('received', 10, 4, 'data'));
    expect(read(place.file).all.at(-1)).toMatchObject({ psn: 4, received: 9000, marks: ['damaged'] });
  });
});

describe('a time stamp', () => {
  it.each([
    ['far in the past', -2_000_000_000n],
    ['far in the future', 9_000_000_000n],
  ])('%s is none of a path', async (_, seconds) => {
    {
      using capture = new RcCapture(place.file, seconds);
      capture.add(seen('sent', 0, 1));
      // The second section has ordinary times.
      capture.section();
      capture.add(seen('sent', 5, 2));
    }
    const page = join(place.directory, 'page.html');
    const text = await verbs(['show', place.file]);
    expect(text).toMatchObject({ status: 0, stdout: expect.stringContaining('2 packets') as string });
    expect(await verbs(['show', place.file, '-o', page])).toMatchObject({ status: 0 });
    expect(await verbs(['show', place.file, '--json'])).toMatchObject({ status: 0 });
  });

  it('that no date can have does not end the page', async () => {
    {
      using capture = new RcCapture(place.file, -(2n ** 62n));
      capture.add(seen('sent', 0, 1));
    }
    const page = join(place.directory, 'page.html');
    const { status, stderr } = await verbs(['show', place.file, '-o', page]);
    expect([status, stderr]).toEqual([0, expect.stringContaining('1 packet of 1 pair')]);
  });
});

describe('the order of times', () => {
  it('is found in a file of several captures, with steps back and equal times', () => {
    const times = Array.from({ length: 300 }, (_, i) => (i * 7919) % 97);
    const packets = times.map((time, i) => seen('sent', time, i));
    written(...packets);
    const order = times.map((time, psn) => ({ time, psn })).sort((a, b) => a.time - b.time || a.psn - b.psn);
    expect(
      read(place.file)
        .all.filter(({ bytes }) => bytes)
        .map(({ sent, psn }) => ({ time: (sent ?? 0) / 1000, psn })),
    ).toEqual(order);
  });

  it('comes through a pipe, too', async () => {
    written(seen('sent', 0, 1), seen('received', 5, 1));
    const pipe = join(place.directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const writing = spawn('sh', ['-c', 'cat "$0" > "$1"', place.file, pipe]);
    const { status, stdout } = await verbs(['show', pipe]);
    expect([status, stdout]).toEqual([0, expect.stringContaining('1 packet')]);
    writing.kill();
  });
});

describe('PSNs', () => {
  it('go around', () => {
    expect(addPsn(0xffffff, 2)).toBe(1);
    expect(psnDistance(1, 0xffffff)).toBe(2);
    expect(psnDistance(0xffffff, 1)).toBe(-2);
    expect(psnDistance(0x7fffff, 0)).toBe(0x7fffff);
  });
});
