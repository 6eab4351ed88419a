// What `verbs show` costs: four times the packets take about four times the processor's time, and memory stays small. The
// machine may be slow or busy, so that a time is only compared with another of the same run; a gigabyte is the bench's.
import { appendFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { journalSection } from '@verbs/lib/capture-files';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { ACKNOWLEDGE, RcCapture, type RcPacket, READ_REQUEST, SEND_ONLY, WRITE_ONLY } from './rc-capture.js';
import { verbs } from './verbs.js';

/** What a linear analysis may take for four times the packets, of what it takes for the packets. A quadratic one takes 16. */
const GROWTH = 8;
/** Times differ by this much between two runs of the same work, in seconds. */
const NOISE = 0.3;
/** A gigabyte takes less than 500 MB; a command with a capture of nothing, and the heap's room for garbage, take so much. */
const BYTES_OF_MEMORY = 500e6;
const BASE_MEMORY = 130e6;

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'verbs-show-budget-'));
  file = join(directory, 'run.pcapng');
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

interface Cost {
  stdout: string;
  seconds: number;
  memory: number;
}

/** Runs the command, and tells what it took. */
async function show(...options: string[]): Promise<Cost> {
  const report = `process.on('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    process.stderr.write(JSON.stringify({ seconds: (userCPUTime + systemCPUTime) / 1e6, memory: maxRSS * 1024 }));
  })`;
  const { status, stdout, stderr } = await verbs(['show', ...options, file], {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(report)}`,
  });
  expect(status, stderr).toBe(0);
  return { stdout, ...(JSON.parse(stderr.slice(stderr.lastIndexOf('{'))) as { seconds: number; memory: number }) };
}

const A = '127.0.0.1';
const B = '127.0.0.2';
const START = 1_700_000_000_000_000_000n;

/** A packet between A and B, by number: each microsecond one. */
function packet(i: number, given: Partial<RcPacket> & Pick<RcPacket, 'opcode' | 'psn'>): RcPacket {
  return { direction: 'sent', time: START + BigInt(i) * 1000n, from: A, to: B, destQpn: 0x22, ...given };
}

/** The messages and acknowledgements of a ping pong of 64 bytes, as both ends capture them. */
function pingPong(rounds: number): RcCapture {
  using capture = new RcCapture(file);
  for (const [end, me] of [A, B].entries()) {
    if (end === 1) capture.section();
    let i = 0;
    const add = (from: string, opcode: number, psn: number, extra: Partial<RcPacket>) => {
      const [to, destQpn] = from === A ? [B, 0x22] : [A, 0x11];
      const direction = from === me ? 'sent' : 'received';
      const time = START + BigInt(i++) * 1000n + (from === me ? 0n : 800n);
      capture.add({ direction, time, from, to, opcode, destQpn, psn: psn & 0xffffff, ...extra });
    };
    for (let round = 0; round < rounds; round += 1) {
      const aeth = { syndrome: 0, msn: round & 0xffffff };
      add(A, SEND_ONLY, round, { payload: 64 });
      add(B, ACKNOWLEDGE, round, { aeth });
      add(B, SEND_ONLY, round, { payload: 64 });
      add(A, ACKNOWLEDGE, round, { aeth });
    }
  }
  return capture;
}

/** The cost of a capture of nothing. */
let start: Cost;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'verbs-show-budget-'));
  file = join(directory, 'run.pcapng');
  pingPong(1);
  start = await show();
  rmSync(directory, { recursive: true });
});

/**
 * Shows a capture of a quarter of the size and one of that size, and compares what they take.
 * @param write writes it, and gives its bytes
 * @returns the cost of the larger
 */
async function expectLinear(size: number, write: (size: number) => number, ...options: string[]): Promise<Cost> {
  write(size / 4);
  const quarter = await show(...options);
  const bytes = write(size);
  const whole = await show(...options);
  const [less, more] = [quarter, whole].map(({ seconds }) => Math.max(0, seconds - start.seconds)) as [number, number];
  expect(more, `a quarter took ${less} s`).toBeLessThan(GROWTH * (less + NOISE / 2) + NOISE);
  expect(whole.memory - BASE_MEMORY).toBeLessThan((bytes / 1e9) * (BYTES_OF_MEMORY - BASE_MEMORY) + 40e6);
  return whole;
}

it('reads a ping pong, seen by both ends', { timeout: 120_000 }, async () => {
  const { stdout } = await expectLinear(128_000, (packets) => pingPong(packets / 8).size);
  expect(stdout).toMatch(/^ {8}64000 packets, [\d.]+ MB$/m);
  expect(stdout.trimEnd().split('\n')).toHaveLength(4 + 64_000);
});

it('tells 150,000 SENDs of one connection', { timeout: 120_000 }, async () => {
  const { stdout } = await expectLinear(150_000, (packets) => {
    using capture = new RcCapture(file);
    for (let i = 0; i < packets; i += 1) {
      capture.add(packet(i, { direction: undefined, opcode: SEND_ONLY, psn: i & 0xffffff, payload: 64 }));
    }
    return capture.size;
  });
  expect(stdout).toContain('150000 packets');
});

it('finds the pairs of 3,000 queue pairs between two addresses', { timeout: 120_000 }, async () => {
  const rounds = 8;
  const { stdout } = await expectLinear(
    3000,
    (count) => {
      using capture = new RcCapture(file);
      for (let i = 0; i < count * rounds; i += 1) {
        const pair = i % count;
        const psn = (pair * 5000 + Math.floor(i / count)) & 0xffffff;
        const time = START + BigInt(i) * 2000n;
        capture.add(packet(i, { time, opcode: WRITE_ONLY, destQpn: 0x10000 + pair, psn, payload: 64 }));
        const back = { from: B, to: A, direction: 'received' as const, time: time + 1000n };
        const aeth = { syndrome: 0, msn: 1 };
        capture.add(packet(i, { ...back, opcode: ACKNOWLEDGE, destQpn: 0x20000 + pair, psn, aeth }));
      }
      return capture.size;
    },
    '--json',
  );
  const { pairs } = JSON.parse(stdout) as { pairs: { ends: { qpn: number }[]; packets: number }[] };
  expect(pairs).toHaveLength(3000);
  for (const { ends, packets } of pairs) {
    expect([packets, (ends[0]?.qpn ?? 0) - 0x20000]).toEqual([2 * rounds, (ends[1]?.qpn ?? 0) - 0x10000]);
  }
});

it('counts 20,000 gaps, and the packets that come late', { timeout: 120_000 }, async () => {
  const { stdout } = await expectLinear(20_000, (gaps) => {
    using capture = new RcCapture(file);
    // Every third PSN is missing; afterwards each of them is sent again, and one that was there.
    for (let i = 0; i < 2 * gaps; i += 1) {
      capture.add(packet(i, { opcode: SEND_ONLY, psn: i + Math.floor(i / 2), payload: 64 }));
    }
    for (let i = 0; i < gaps - 1; i += 1) {
      capture.add(packet(2 * gaps + i, { opcode: SEND_ONLY, psn: 3 * i + 2, payload: 64 }));
    }
    capture.add(packet(4 * gaps, { opcode: SEND_ONLY, psn: 4, payload: 64 }));
    return capture.size;
  });
  expect(stdout).toContain('60000 packets, ');
  expect(stdout).toContain('19999 never captured, 20000 retransmitted');
  expect(stdout.match(/retransmission, the first was not captured/g)).toHaveLength(19_999);
  expect(stdout.match(/ retransmission$/gm)).toHaveLength(1);
});

it('gives 20,000 damaged packets to their connection', { timeout: 120_000 }, async () => {
  const { stdout } = await expectLinear(60_000, (packets) => {
    using capture = new RcCapture(file);
    for (let i = 0; i < packets; i += 1) {
      const damaged = i % 3 !== 1 ? undefined : i % 2 === 0 ? ('number' as const) : ('data' as const);
      const direction = 'received' as const;
      capture.add(packet(i, { direction, opcode: SEND_ONLY, psn: i, payload: 64, ...(damaged && { damaged }) }));
    }
    return capture.size;
  });
  expect(stdout).toContain('60000 packets, ');
  expect(stdout).toContain('20000 damaged');
  expect(stdout).not.toContain('pair 2');
});

it('finds the packets of 20,000 reasons', { timeout: 120_000 }, async () => {
  const { stdout } = await expectLinear(80_000, (packets) => {
    {
      using capture = new RcCapture(file);
      for (let i = 0; i < packets; i += 1) {
        capture.add(packet(i, { direction: 'received', opcode: SEND_ONLY, psn: i, payload: 64 }));
      }
    }
    // Each fourth packet is dropped, and its receiver tells.
    const reasons = Array.from({ length: packets / 4 }, (_, i) => {
      const time = new Date(Number(START / 1_000_000n)).toISOString().slice(0, 17);
      const at = `${time}${(20 + (i * 4) / 1e6).toFixed(6)}Z`;
      const text = 'no receive request was posted';
      const report = {
        time: at,
        place: 'arrival',
        reason: 'drop_no_receive',
        qpNum: 0x22,
        peerGid: `::ffff:${A}`,
        text,
      };
      return { MESSAGE: text, VERBS_REASON: JSON.stringify(report) };
    });
    appendFileSync(file, journalSection(reasons));
    return statSync(file).size;
  });
  expect(stdout.match(/dropped: no receive request was posted/g)).toHaveLength(20_000);
});

it('needs no more for packets that make no sense', { timeout: 120_000 }, async () => {
  let state = 1;
  const random = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const opcodes = [SEND_ONLY, WRITE_ONLY, READ_REQUEST, ACKNOWLEDGE];
  await expectLinear(40_000, (packets) => {
    using capture = new RcCapture(file);
    for (let i = 0; i < packets; i += 1) {
      const opcode = opcodes[random(4)] ?? SEND_ONLY;
      const time = START + BigInt(random(1_000_000)) * 1000n;
      const ends = random(2) === 0 ? { from: A, to: B } : { from: B, to: A };
      const direction = random(2) === 0 ? ('sent' as const) : ('received' as const);
      const aeth = opcode === ACKNOWLEDGE ? { syndrome: random(256), msn: random(2 ** 24) } : undefined;
      const numbers = { destQpn: random(2 ** 14), psn: random(2 ** 24) };
      capture.add(packet(i, { ...ends, ...numbers, direction, time, opcode, ...(aeth && { aeth }), payload: 16 }));
    }
    return capture.size;
  });
});
