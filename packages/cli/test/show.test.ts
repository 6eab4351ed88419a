import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AccessFlags, type Context, openDevice, QpType, type QueuePair, WrOpcode } from '@verbs/core';
import { configure, type FaultRule, softNic } from '@verbs/soft';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fold, foldOf } from '../browser/fold.js';
import { layOut, visible } from '../browser/layout.js';
import { type LadderPacket, packetsOf } from '../browser/packet.js';
import { analyze } from '../src/show/analyze.js';
import type { Course, Packet } from '../src/show/course.js';
import { pageData } from '../src/show/page-data.js';
import type { PageData } from '../src/show/page-row.js';
import { addPsn, psnDistance } from '../src/show/psn.js';
import { ACKNOWLEDGE, RcCapture, READ_REQUEST, SEND_ONLY } from './rc-capture.js';
import { verbs } from './verbs.js';

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'verbs-show-test-'));
  file = join(directory, 'run.pcapng');
});

afterEach(() => {
  configure(null);
  rmSync(directory, { recursive: true });
});

const REMOTE = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ;

function end(context: Context) {
  const pd = context.allocPd();
  const cq = context.createCq(64);
  const mr = pd.allocMr(65_536, AccessFlags.LOCAL_WRITE | REMOTE);
  const cap = { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 1, maxRecvSge: 1 };
  return { mr, qp: () => pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap }) };
}

interface Ends {
  requester: ReturnType<typeof end>;
  responder: ReturnType<typeof end>;
  /** A connected pair of queue pairs. */
  pair: () => ReturnType<ReturnType<typeof end>['qp']>[];
}

/** What happens between two devices of this process, as the capture of one of them shows it. */
async function record(run: (ends: Ends) => Promise<void>, options: Recording = {}) {
  // On a busy machine an acknowledgement may take so long that the requester sends again, which is no part of the picture.
  for (let attempts = 10; !(await isRecorded(run, options)) && attempts > 0; attempts--);
  return read(file);
}

interface Recording {
  faults?: FaultRule;
  at?: string;
}

/** False: something was sent again, without a fault. */
async function isRecorded(run: (ends: Ends) => Promise<void>, options: Recording): Promise<boolean> {
  configure('one,addr=127.77.4.1,mtu=1024;two,addr=127.77.4.2,mtu=1024');
  using first = openDevice('one');
  using second = openDevice('two');
  if (options.faults !== undefined) softNic('one').faults.set(options.faults, { seed: 1 });
  const captures = [softNic(options.at ?? 'one').capture(file)];
  const ends = { requester: end(first), responder: end(second) };
  // Whatever of them `run` lets go of: a queue pair that nobody refers to is collected, and answers no more.
  const kept: QueuePair[] = [];
  const pair = () => {
    const qps = [ends.requester.qp(), ends.responder.qp()] as const;
    kept.push(...qps);
    const [one, two] = qps.map((qp) => qp.endpoint());
    if (one !== undefined && two !== undefined) {
      qps[0].connect(two);
      qps[1].connect(one);
    }
    return [...qps];
  };
  await run({ ...ends, pair });
  for (const capture of captures) capture.stop();
  for (const qp of kept) qp.close();
  return options.faults !== undefined || softNic('one').stats()['retransmitted_pkts'] === 0n;
}

/** The course of a capture, with all its packets. */
function read(path: string): Course & { all: Packet[] } {
  using course = analyze(path);
  const all = [...course.packets()];
  return { ...course, all, packets: () => all };
}

const lines = ({ packets }: Course) =>
  Array.from(packets(), ({ from, name, marks }) => [from === 0 ? '>' : '<', name, ...marks].join(' '));

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
      using capture = new RcCapture(file);
      for (const [i, [opcode, psn, payload]] of rows.entries()) {
        const asks = opcode === READ_REQUEST;
        const [from, to, destQpn] = asks ? ['127.0.0.3', '127.0.0.4', 0x22] : ['127.0.0.4', '127.0.0.3', 0x11];
        const direction = asks ? 'sent' : 'received';
        const time = 1_700_000_000_000_000_000n + BigInt(i) * 1000n;
        const aeth = opcode === FIRST || opcode === LAST ? { aeth: { syndrome: 0, msn: 1 } } : {};
        capture.add({ direction, time, from, to, opcode, destQpn, psn, payload, ...aeth });
      }
    }
    const course = read(file);
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
      using capture = new RcCapture(file);
      // A program after the other, as of a test suite; and what the last one sends again, of which the capture has the first.
      for (const [i, psn] of [5_000_000, 5_000_001, 1000, 1001, 9_000_000, 9_000_001, 9_000_000].entries()) {
        const time = 1_700_000_000_000_000_000n + BigInt(i) * 1000n;
        const ends = { from: '127.0.0.3', to: '127.0.0.4', destQpn: 0x11 };
        capture.add({ direction: 'sent', time, ...ends, opcode: SEND_ONLY, psn, payload: 64 });
      }
    }
    expect(lines(read(file))).toEqual([...Array<string>(6).fill('> RC SEND Only'), '> RC SEND Only retransmission']);
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
    writeFileSync(file, Buffer.concat([fileHeader, ...seen('sent', 0, 1), ...seen('received', 5, 1)]));
    expect(read(file).all).toMatchObject([{ sent: 0, received: 5000, marks: [] }]);

    // The first of two is lost; its second transmission arrives.
    const lossy = [...seen('sent', 0, 7), ...seen('sent', 9, 7), ...seen('received', 12, 7)];
    writeFileSync(file, Buffer.concat([fileHeader, ...lossy]));
    expect(read(file).all).toMatchObject([
      { sent: 0, marks: ['lost'] },
      { sent: 9000, received: 12_000, marks: ['retransmission'] },
    ]);

    // Without the receiver's capture nobody knows.
    writeFileSync(file, Buffer.concat([fileHeader, ...seen('sent', 0, 7)]));
    expect(lines(read(file))).toEqual(['> RC SEND Only']);

    // Nor without that of the process, which has its address in common with the sender's.
    const time = 1_700_000_000_000_000_000n;
    const message = { time, from: '127.0.0.1', to: '127.0.0.1', opcode: SEND_ONLY, psn: 1, payload: 64 };
    const answer = { ...message, opcode: ACKNOWLEDGE, aeth: { syndrome: 0, msn: 1 }, destQpn: 0x22 };
    for (const bothEnds of [false, true]) {
      {
        using capture = new RcCapture(file);
        capture.add({ ...message, direction: 'sent', destQpn: 0x11 });
        if (bothEnds) capture.add({ ...answer, direction: 'sent' });
        capture.add({ ...answer, direction: 'received', time: time + 5000n });
      }
      expect(read(file).all[0]?.marks).toEqual(bothEnds ? ['lost'] : []);
    }

    // An answer whose queue pair number was damaged is one of the receiver's, and no sign of a capture there.
    for (const isAnswered of [true, false]) {
      {
        using capture = new RcCapture(file);
        capture.add({ ...message, direction: 'sent', destQpn: 0x22 });
        const answers = { ...answer, direction: 'received' as const, destQpn: 0x11 };
        capture.add({ ...answers, time: time + 1000n, damaged: 'number' });
        capture.add({ ...message, direction: 'sent', destQpn: 0x22, time: time + 2000n });
        if (isAnswered) capture.add({ ...answers, time: time + 3000n });
      }
      const { pairs } = read(file);
      expect(pairs.map(({ ends, marks }) => [...ends.map(({ qpn }) => qpn), marks])).toEqual([
        [isAnswered ? 0x11 : undefined, 0x22, { damaged: 1, retransmission: 1 }],
      ]);
      if (isAnswered) expect(lines(read(file))[1]).toBe('< RC Acknowledge damaged');
    }

    const good = [1, 2, 3].flatMap((psn) => [...seen('sent', psn, psn), ...seen('received', psn + 1, psn)]);
    writeFileSync(file, Buffer.concat([fileHeader, ...good, ...seen('sent', 9, 4), ...seen('received', 10, 4, 0x55)]));
    expect(read(file).all.at(-1)).toMatchObject({ psn: 4, received: 9000, marks: ['damaged'] });
  });
});

describe('a time stamp', () => {
  it.each([
    ['far in the past', -2_000_000_000n],
    ['far in the future', 9_000_000_000n],
  ])('%s is none of a path', async (_, seconds) => {
    const offset = Buffer.alloc(8);
    offset.writeBigInt64LE(seconds);
    const options = Buffer.concat([words(14 | (8 << 16)), offset, words(0)]);
    const header = Buffer.concat([
      block(0x0a0d0d0a, words(0x1a2b3c4d, 1, 0xffffffff, 0xffffffff)),
      block(1, words(101, 0), options),
    ]);
    // The second section has ordinary times.
    writeFileSync(file, Buffer.concat([header, ...seen('sent', 0, 1), fileHeader, ...seen('sent', 5, 2)]));
    const page = join(directory, 'page.html');
    const text = await verbs(['show', file]);
    expect(text).toMatchObject({ status: 0, stdout: expect.stringContaining('2 packets') as string });
    expect(await verbs(['show', file, '-o', page])).toMatchObject({ status: 0 });
    expect(await verbs(['show', file, '--json'])).toMatchObject({ status: 0 });
  });

  it('that no date can have does not end the page', async () => {
    const offset = Buffer.alloc(8);
    offset.writeBigInt64LE(-(2n ** 62n));
    const options = Buffer.concat([words(14 | (8 << 16)), offset, words(0)]);
    const header = block(0x0a0d0d0a, words(0x1a2b3c4d, 1, 0xffffffff, 0xffffffff));
    writeFileSync(file, Buffer.concat([header, block(1, words(101, 0), options), ...seen('sent', 0, 1)]));
    const page = join(directory, 'page.html');
    const { status, stderr } = await verbs(['show', file, '-o', page]);
    expect([status, stderr]).toEqual([0, expect.stringContaining('1 packet of 1 pair')]);
  });
});

describe('the order of times', () => {
  it('is found in a file of several captures, with steps back and equal times', () => {
    const times = Array.from({ length: 300 }, (_, i) => (i * 7919) % 97);
    const packets = times.flatMap((time, i) => seen('sent', time, i));
    writeFileSync(file, Buffer.concat([fileHeader, ...packets]));
    const order = times.map((time, psn) => ({ time, psn })).sort((a, b) => a.time - b.time || a.psn - b.psn);
    expect(
      read(file)
        .all.filter(({ bytes }) => bytes)
        .map(({ sent, psn }) => ({ time: (sent ?? 0) / 1000, psn })),
    ).toEqual(order);
  });

  it('comes through a pipe, too', async () => {
    writeFileSync(file, Buffer.concat([fileHeader, ...seen('sent', 0, 1), ...seen('received', 5, 1)]));
    const pipe = join(directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const writing = spawn('sh', ['-c', 'cat "$0" > "$1"', file, pipe]);
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

describe('verbs show', () => {
  const write = async ({ requester, responder, pair }: Ends) => {
    const remote = { remoteAddr: responder.mr.addr, rkey: responder.mr.rkey };
    for (const qp of [pair()[0], pair()[0]])
      await qp?.send({ opcode: WrOpcode.RDMA_WRITE, sgList: [{ mr: requester.mr, length: 20 }], ...remote });
  };

  it('prints a line for each packet, in 80 columns and without colour', async () => {
    await record(write);
    const { status, stdout } = await verbs(['show', file]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^pair 1 {2}RC {2}127\.77\.4\.1 QP 0x[0-9a-f]+ > 127\.77\.4\.2 QP 0x[0-9a-f]+$/m);
    expect(stdout).toMatch(/^ +1 +0\.000 {2}1 --> {2}RC RDMA WRITE Only {2}PSN 0x[0-9a-f]+ {2}20 bytes$/m);
    expect(stdout).toMatch(/^ +2 +[\d.]+ {2}1 +<-- RC Acknowledge {2}PSN 0x[0-9a-f]+ {2}ACK$/m);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(stdout).not.toContain('\u001b');
  });

  it('explains a packet field by field, and takes one queue pair', async () => {
    const { pairs } = await record(write);
    const { stdout } = await verbs(['show', '-p', '1', file]);
    expect(stdout).toMatch(/^ {4}virtual address +64 bits +0x[0-9a-f]{16} +remoteAddr of the work request$/m);
    expect(stdout).not.toMatch(/RC Acknowledge {2}PSN/);
    const qpn = pairs[1]?.ends[0].qpn ?? 0;
    const json = await verbs(['show', '--qp', `0x${qpn.toString(16)}`, '--json', file]);
    const course = JSON.parse(json.stdout) as { pairs: { ends: { qpn: number }[] }[]; packets: { pair: number }[] };
    expect(course.pairs.map(({ ends }) => ends[0]?.qpn)).toEqual([qpn]);
    expect(course.packets.map(({ pair }) => pair)).toEqual([1, 1]);
    const late = await verbs(['show', '-p', '99', file]);
    expect(late).toMatchObject({ status: 1, stdout: '' });
    expect(late.stderr).toMatch(/has no packet 99\n {2}the last one is 4$/m);
    const none = await verbs(['show', '--qp', '0xffffff', file]);
    expect([none.status, none.stderr]).toMatchObject([1, expect.stringContaining(`0x${qpn.toString(16)}`)]);
  });

  it('goes through tunnels', async () => {
    configure('hbl_0,kind=hbl,ports=1,link=process;hbl_1,kind=hbl,ports=1,link=process');
    const { deliver } = await import('@verbs/lib/tunnel');
    const keep = new AbortController();
    const { packets } = await deliver('gre', 'hello', keep.signal);
    writeFileSync(file, Buffer.concat([fileHeader, ...packets.flatMap(({ data }) => packet(data, 'sent', 0))]));
    const { stdout } = await verbs(['show', '-v', file]);
    expect(stdout).toMatch(/^pair 1 {2}RC .* through GRE$/m);
    expect(stdout).toMatch(/^ {2}GRE: 4 bytes from 20/m);
    expect(stdout).toMatch(/ {2}"hello"/);
  });

  it("explains the headers behind one of the user's own, which only the checksum at the end tells", async () => {
    const head = '450001c8 00000000 40110000 7f000001 7f000002 c00012b5 01b40000 0400ffff 00000011 80000001';
    const plain = Buffer.concat([
      Buffer.from(head.replaceAll(' ', ''), 'hex'),
      Buffer.alloc(400, 0xaa),
      Buffer.alloc(4),
    ]);
    plain.writeUInt32LE(checksum(plain), plain.length - 4);
    const data = Buffer.concat([plain.subarray(0, 28), Buffer.alloc(12, 0xab), plain.subarray(28)]);
    writeFileSync(file, Buffer.concat([fileHeader, ...packet(data, 'sent', 0)]));
    const { stdout } = await verbs(['show', '-v', file]);
    expect(stdout).toMatch(/^pair 1 {2}RC .* through tunnel$/m);
    expect(stdout).toMatch(/^ {2}tunnel header: 12 bytes from 28/m);
    expect(stdout).toMatch(/^ {2}BTH: 12 bytes from 40/m);
  });

  it('writes a page that needs no other file and survives any name', async () => {
    const course = await record(write);
    const page = join(directory, 'page.html');
    const { status, stdout, stderr } = await verbs(['show', file, '-o', page]);
    expect([status, stdout]).toEqual([0, '']);
    expect(stderr).toContain('4 packets of 2 pairs');
    const same = await verbs(['show', file, '-o', file]);
    expect([same.status, same.stderr]).toMatchObject([2, expect.stringContaining('are the same file')]);
    expect(read(file).all).toHaveLength(4);
    const text = readFileSync(page, 'utf8');
    expect(text).not.toMatch(/(src|href)=["']?http/);
    expect(text.match(/<script/g)).toHaveLength(2);
    const data = JSON.parse(
      /<script type="application\/json" id="data">(.*)<\/script>/.exec(text)?.[1] ?? '',
    ) as PageData;
    expect(data).toEqual(JSON.parse(JSON.stringify(pageData({ ...course, file: 'run.pcapng' }))));
    expect(packetsOf(data)[0]).toMatchObject({
      name: 'RC RDMA WRITE Only',
      role: 'write',
      from: 0,
      link: 'ip',
      at: 28,
    });
  });

  it.each([
    ['no capture at all', 'is neither a pcap nor a pcapng file'],
    ['', 'is empty'],
  ])('refuses %j', async (content, message) => {
    writeFileSync(file, content);
    const { status, stderr } = await verbs(['show', file]);
    expect([status, stderr]).toMatchObject([1, expect.stringContaining(message)]);
  });

  it('says of a file that was cut off that it was, with packets or without', async () => {
    await record(write);
    const whole = readFileSync(file);
    writeFileSync(file, whole.subarray(0, -3));
    const most = await verbs(['show', file]);
    expect([most.status, most.stdout]).toMatchObject([0, expect.stringContaining('ends in the middle of a packet')]);
    writeFileSync(file, whole.subarray(0, 300));
    const none = await verbs(['show', file]);
    expect([none.status, none.stderr]).toMatchObject([
      1,
      expect.stringMatching(/is cut off in front of its first packet/),
    ]);
  });

  it('is what verbs run --show ends with', async () => {
    const { status, stderr } = await verbs(['run', '--show', '--capture', file, '--', 'ibv_devinfo'], {
      VERBS_SOFT: 'soft0,addr=127.77.4.3',
    });
    expect(stderr).toContain(join(directory, 'run.html'));
    expect(status).toBe(0);
  });
});

describe('the reasons of the software NIC in a capture', () => {
  const program = fileURLToPath(new URL('programs/refused.mjs', import.meta.url));

  it('are told at the packets that were dropped and refused, and in no other capture', async () => {
    const capture = ['capture', '--json', '-o', file, '--', process.execPath, program];
    const { stdout, status } = await verbs(capture, { VERBS_SOFT: 'soft0,addr=127.77.4.9' });
    expect(status).toBe(0);
    expect(stdout).toMatch(/^WC_REM_ACCESS_ERR\n/);
    // They are no packets, and no section of a process.
    expect(JSON.parse(stdout.slice(stdout.indexOf('{')))).toMatchObject({ sections: 1, packets: 6 });
    using course = analyze(file);
    expect([...course.packets()].map(({ name, notes }) => [name, notes])).toEqual([
      ['UD SEND Only', ['dropped: the datagram has the Q_Key 0x1111, and the queue pair has 0x2222']],
      [
        'RC RDMA WRITE Only',
        [expect.stringMatching(/^refused: access of the region of R_Key 0x\w+ lacks REMOTE_WRITE/)],
      ],
      ['RC Acknowledge', ['NAK: remote access error']],
    ]);
    const shown = await verbs(['show', file]);
    expect(shown.stdout).toContain('dropped: the datagram has the Q_Key');
  });

  it('leave the file of the user alone, and no part in a capture without any', async () => {
    const why = join(directory, 'why');
    writeFileSync(why, '');
    const env = { VERBS_SOFT: 'soft0,addr=127.77.4.9', VERBS_SOFT_WHY: why };
    await verbs(['run', '--capture', file, '--', process.execPath, program], env);
    expect(readFileSync(why, 'utf8')).toContain('drop_qkey');
    using course = analyze(file);
    expect([...course.packets()].flatMap(({ notes }) => notes)).toEqual(['NAK: remote access error']);
  });

  it('of a damaged or foreign journal are ignored', async () => {
    await verbs(['capture', '-o', file, '--', process.execPath, program], { VERBS_SOFT: 'soft0,addr=127.77.4.9' });
    const bytes = readFileSync(file);
    const at = bytes.indexOf('VERBS_REASON={');
    bytes.write('VERBS_REASON=[', at);
    writeFileSync(file, bytes);
    using course = analyze(file);
    expect([...course.packets()].flatMap(({ notes }) => notes)).toHaveLength(2);
  });
});

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

// A pcapng file with IP packets, by hand: a section, an interface with times in microseconds, packets.
function block(type: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const length = words(body.length + 12);
  return Buffer.concat([words(type), length, body, length]);
}

function words(...values: number[]): Buffer {
  const buffer = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) buffer.writeUInt32LE(value, i * 4);
  return buffer;
}

const fileHeader = Buffer.concat([
  block(0x0a0d0d0a, words(0x1a2b3c4d, 1, 0xffffffff, 0xffffffff)),
  block(1, words(101, 0)),
]);

function packet(data: Uint8Array, direction: 'sent' | 'received', microseconds: number): Buffer[] {
  const padded = Buffer.concat([data, Buffer.alloc(-data.length & 3)]);
  const flags = words(2 | (4 << 16), direction === 'sent' ? 2 : 1, 0);
  return [block(6, words(0, 0, microseconds, data.length, data.length), padded, flags)];
}

/** An RC SEND Only of four bytes. The checksum is right for the data `fill` 0xaa. */
function seen(direction: 'sent' | 'received', microseconds: number, psn: number, fill = 0xaa): Buffer[] {
  const data = Buffer.from(
    `450000300000400040110000 7f000001 7f000002 c00012b7001c0000 0400ffff0000001180${psn.toString(16).padStart(6, '0')}`.replaceAll(
      ' ',
      '',
    ),
    'hex',
  );
  const body = Buffer.concat([data, Buffer.alloc(4, 0xaa), Buffer.alloc(4)]);
  body.writeUInt32LE(checksum(body), body.length - 4);
  body.fill(fill, 40, 44);
  return packet(body, direction, microseconds);
}

/** The invariant CRC, bit by bit. */
function checksum(body: Buffer): number {
  const masked = Buffer.from(body.subarray(0, -4));
  for (const at of [1, 8, 10, 11, 26, 27, 32]) masked[at] = 0xff;
  let crc = 0xffffffff;
  for (const byte of [...Buffer.alloc(8, 0xff), ...masked]) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
