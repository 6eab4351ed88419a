// What `verbs show` may cost. Its time is that of the processor: the machine may have other work.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ACKNOWLEDGE, RcCapture, type RcPacket, READ_REQUEST, SEND_ONLY, WRITE_ONLY } from './rc-capture.js';
import { verbs } from './verbs.js';

/** A gigabyte in a minute, with less than 500 MB. */
const SECONDS_PER_BYTE = 60 / 1e9;
const BYTES_OF_MEMORY = 500e6;
/** The memory that a command takes without a capture, and the time that it takes to start. */
const BASE_MEMORY = 130e6;
const BASE_SECONDS = 2;

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

/** What a capture of that size may cost, with the start of the command. Twice the time: processors of a busy machine are slower. */
function expectWithin(cost: Cost, bytes: number): void {
  expect(cost.seconds).toBeLessThan(BASE_SECONDS + 2 * bytes * SECONDS_PER_BYTE);
  expect(cost.memory - BASE_MEMORY).toBeLessThan((bytes / 1e9) * (BYTES_OF_MEMORY - BASE_MEMORY) + 40e6);
}

it(
  'reads a gigabyte in a minute and 500 MB, by the part of it that fits into a test',
  { timeout: 300_000 },
  async () => {
    const { size, packets } = pingPong(60_000);
    const cost = await show();
    expect(packets).toBe(480_000);
    expect(cost.stdout).toMatch(/^ {8}240000 packets, [\d.]+ MB$/m);
    expect(cost.stdout.trimEnd().split('\n')).toHaveLength(4 + 240_000);
    expectWithin(cost, size);
  },
);

it('tells 150,000 SENDs of one connection', { timeout: 120_000 }, async () => {
  {
    using capture = new RcCapture(file);
    for (let i = 0; i < 150_000; i += 1) {
      capture.add(packet(i, { direction: undefined, opcode: SEND_ONLY, psn: i & 0xffffff, payload: 64 }));
    }
  }
  const cost = await show();
  expect(cost.stdout).toContain('150000 packets');
  expectWithin(cost, 150_000 * 170);
});

it('finds the pairs of 3,000 queue pairs between two addresses', { timeout: 120_000 }, async () => {
  const rounds = 20;
  let size: number;
  {
    using capture = new RcCapture(file);
    for (let i = 0; i < 3000 * rounds; i += 1) {
      const pair = i % 3000;
      const psn = (pair * 5000 + Math.floor(i / 3000)) & 0xffffff;
      const time = START + BigInt(i) * 2000n;
      capture.add(packet(i, { time, opcode: WRITE_ONLY, destQpn: 0x10000 + pair, psn, payload: 64 }));
      const back = { from: B, to: A, direction: 'received' as const, time: time + 1000n };
      const aeth = { syndrome: 0, msn: 1 };
      capture.add(packet(i, { ...back, opcode: ACKNOWLEDGE, destQpn: 0x20000 + pair, psn, aeth }));
    }
    size = capture.size;
  }
  const cost = await show('--json');
  const { pairs } = JSON.parse(cost.stdout) as { pairs: { ends: { qpn: number }[]; packets: number }[] };
  expect(pairs).toHaveLength(3000);
  for (const { ends, packets } of pairs) {
    expect([packets, (ends[0]?.qpn ?? 0) - 0x20000]).toEqual([2 * rounds, (ends[1]?.qpn ?? 0) - 0x10000]);
  }
  expectWithin(cost, size);
});

it('counts 50,000 gaps, and the packets that come late', { timeout: 120_000 }, async () => {
  let size: number;
  {
    using capture = new RcCapture(file);
    // Every third PSN is missing; afterwards each of them is sent again, and one that was there.
    for (let i = 0; i < 100_000; i += 1) {
      capture.add(packet(i, { opcode: SEND_ONLY, psn: i + Math.floor(i / 2), payload: 64 }));
    }
    for (let i = 0; i < 49_999; i += 1) {
      capture.add(packet(100_000 + i, { opcode: SEND_ONLY, psn: 3 * i + 2, payload: 64 }));
    }
    capture.add(packet(200_000, { opcode: SEND_ONLY, psn: 4, payload: 64 }));
    size = capture.size;
  }
  const cost = await show();
  expect(cost.stdout).toContain('150000 packets, ');
  expect(cost.stdout).toContain('49999 never captured, 50000 retransmitted');
  expect(cost.stdout.match(/retransmission, the first was not captured/g)).toHaveLength(49_999);
  expect(cost.stdout.match(/ retransmission$/gm)).toHaveLength(1);
  expectWithin(cost, size);
});

it('gives 20,000 damaged packets to their connection', { timeout: 120_000 }, async () => {
  let size: number;
  {
    using capture = new RcCapture(file);
    for (let i = 0; i < 60_000; i += 1) {
      const damaged = i % 3 !== 1 ? undefined : i % 2 === 0 ? ('number' as const) : ('data' as const);
      const direction = 'received' as const;
      capture.add(packet(i, { direction, opcode: SEND_ONLY, psn: i, payload: 64, ...(damaged && { damaged }) }));
    }
    size = capture.size;
  }
  const cost = await show();
  expect(cost.stdout).toContain('60000 packets, ');
  expect(cost.stdout).toContain('20000 damaged');
  expect(cost.stdout).not.toContain('pair 2');
  expectWithin(cost, size);
});

it('needs no more for packets that make no sense', { timeout: 120_000 }, async () => {
  let state = 1;
  const random = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  let size: number;
  {
    using capture = new RcCapture(file);
    const opcodes = [SEND_ONLY, WRITE_ONLY, READ_REQUEST, ACKNOWLEDGE];
    for (let i = 0; i < 60_000; i += 1) {
      const opcode = opcodes[random(4)] ?? SEND_ONLY;
      const time = START + BigInt(random(1_000_000)) * 1000n;
      const ends = random(2) === 0 ? { from: A, to: B } : { from: B, to: A };
      const direction = random(2) === 0 ? ('sent' as const) : ('received' as const);
      const aeth = opcode === ACKNOWLEDGE ? { syndrome: random(256), msn: random(2 ** 24) } : undefined;
      const numbers = { destQpn: random(2 ** 14), psn: random(2 ** 24) };
      capture.add(packet(i, { ...ends, ...numbers, direction, time, opcode, ...(aeth && { aeth }), payload: 16 }));
    }
    size = capture.size;
  }
  expectWithin(await show(), size);
});
