import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CapturedFrame, type CaptureFormat, FrameReader, FrameWriter } from '../src/capture-files/index.js';

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'verbs-frames-test-'));
  path = join(directory, 'capture');
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

function read(bytes: Uint8Array): { format: CaptureFormat; frames: CapturedFrame[] } {
  writeFileSync(path, bytes);
  return readAll();
}

function readAll(): { format: CaptureFormat; frames: CapturedFrame[] } {
  using reader = new FrameReader(path);
  const frames: CapturedFrame[] = [];
  for (const frame of reader.frames()) frames.push({ ...frame, data: frame.data.slice() });
  return { format: reader.format, frames };
}

const FRAME = Uint8Array.from({ length: 61 }, (_, i) => i);
const SECONDS = 1_700_000_000;
const NS = BigInt(SECONDS) * 1_000_000_000n;

/** Numbers in the byte order under test, and bytes as they are. */
function build(
  little: boolean,
  ...parts: (readonly [bits: 16 | 32 | 64, value: number | bigint] | Uint8Array)[]
): Buffer {
  return Buffer.concat(
    parts.map((part) => {
      if (part instanceof Uint8Array) return part;
      const [bits, value] = part;
      const buffer = Buffer.alloc(bits / 8);
      const view = new DataView(buffer.buffer, buffer.byteOffset);
      if (bits === 16) view.setUint16(0, Number(value), little);
      else if (bits === 32) view.setUint32(0, Number(value), little);
      else view.setBigInt64(0, BigInt(value), little);
      return buffer;
    }),
  );
}

function pcap(little: boolean, magic: number, fraction: number, link = 1): Buffer {
  return build(
    little,
    ...([magic, 2 | (4 << 16), 0, 0, 65535, link] as const).map((value) => [32, value] as const),
    ...([SECONDS, fraction, FRAME.length, 70] as const).map((value) => [32, value] as const),
    FRAME,
  );
}

function block(little: boolean, type: number, ...body: Parameters<typeof build>[1][]): Buffer {
  const bytes = build(little, ...body);
  const padded = Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);
  const length = [32, padded.length + 12] as const;
  return build(little, [32, type], length, padded, length);
}

const section = (little: boolean) =>
  block(little, 0x0a0d0d0a, [32, 0x1a2b3c4d], [16, 1], [16, 0], [32, 0xffffffff], [32, 0xffffffff]);
const iface = (little: boolean, link: number, snap: number, ...options: Parameters<typeof build>[1][]) =>
  block(little, 1, [16, link], [16, 0], [32, snap], ...options);
const tsresol = (value: number) => [[16, 9], [16, 1], Uint8Array.of(value, 0, 0, 0)] as const;
const enhanced = (little: boolean, id: number, ticks: bigint) =>
  block(little, 6, [32, id], [32, ticks >> 32n], [32, ticks & 0xffffffffn], [32, FRAME.length], [32, 70], FRAME);

describe('FrameReader', () => {
  it.each([
    ['microseconds', 0xa1b2c3d4, 5, 5000n],
    ['nanoseconds', 0xa1b23c4d, 5, 5n],
  ])('reads pcap with %s in both byte orders', (_name, magic, fraction, nanoseconds) => {
    for (const little of [true, false]) {
      expect(read(pcap(little, magic, fraction))).toEqual({
        format: 'pcap',
        frames: [{ data: FRAME, originalLength: 70, timestamp: NS + nanoseconds }],
      });
    }
  });

  it.each([true, false])('reads every kind of packet block of pcapng, little endian: %s', (little) => {
    const ticks = BigInt(SECONDS) * 1_000_000n + 7n;
    const binary = BigInt(SECONDS) * 1024n + 512n;
    const { format, frames } = read(
      Buffer.concat([
        section(little),
        iface(little, 1, 40),
        iface(little, 1, 0, ...tsresol(0x8a), [16, 14], [16, 8], [64, -100n], [32, 0]),
        // Unknown blocks are passed over.
        block(little, 0x0bad, [32, 1]),
        enhanced(little, 0, ticks),
        enhanced(little, 1, binary),
        block(little, 2, [16, 0], [16, 9], [32, ticks >> 32n], [32, ticks & 0xffffffffn], [32, 61], [32, 61], FRAME),
        block(little, 3, [32, 61], FRAME.subarray(0, 40)),
        block(little, 3, [32, 20], FRAME.subarray(0, 20)),
        // A new section has interfaces of its own, and may have the other byte order.
        section(!little),
        iface(!little, 1, 0, ...tsresol(9)),
        enhanced(!little, 0, NS + 3n),
      ]),
    );
    expect(format).toBe('pcapng');
    expect(frames).toEqual([
      { data: FRAME, originalLength: 70, timestamp: NS + 7000n },
      { data: FRAME, originalLength: 70, timestamp: NS - 100_000_000_000n + 500_000_000n },
      { data: FRAME, originalLength: 61, timestamp: NS + 7000n },
      { data: FRAME.subarray(0, 40), originalLength: 61, timestamp: undefined },
      { data: FRAME.subarray(0, 20), originalLength: 20, timestamp: undefined },
      { data: FRAME, originalLength: 70, timestamp: NS + 3n },
    ]);
  });

  const ng = (...blocks: Buffer[]) => Buffer.concat([section(true), ...blocks]);
  it.each<[string, Uint8Array]>([
    ['is empty', new Uint8Array()],
    ['is neither a pcap nor a pcapng file', Uint8Array.of(1, 2)],
    ['is neither a pcap nor a pcapng file', Buffer.from('#!/bin/sh\n')],
    ['is compressed; unpack it first', Uint8Array.of(0x1f, 0x8b, 8, 0)],
    ['is an extended pcap file', pcap(true, 0xa1b2cd34, 0)],
    ['is cut off in its header', pcap(true, 0xa1b2c3d4, 0).subarray(0, 20)],
    ['is cut off in frame 1', pcap(true, 0xa1b2c3d4, 0).subarray(0, 30)],
    ['is cut off in frame 1', pcap(true, 0xa1b2c3d4, 0).subarray(0, 100)],
    ['has packets of link type 113 (Linux cooked), and only Ethernet', pcap(true, 0xa1b2c3d4, 0, 113)],
    ['has packets of link type 147, and', pcap(false, 0xa1b2c3d4, 0, 147)],
    ['has frames with their checksums (FCS)', pcap(true, 0xa1b2c3d4, 0, 0x24000001)],
    [
      'is damaged: frame 1 would have 262145 bytes',
      build(true, pcap(true, 0xa1b2c3d4, 0).subarray(0, 32), [32, 262145], [32, 0]),
    ],
    ['has packets of link type 101 (raw IP)', ng(iface(true, 101, 0), enhanced(true, 0, 0n))],
    ['is damaged: frame 1 is of interface 0, which', ng(enhanced(true, 0, 0n))],
    ['is damaged: frame 1 is shorter than its header', ng(iface(true, 1, 0), block(true, 6, [32, 0]))],
    ['is damaged: frame 1 is longer than its block', ng(iface(true, 1, 0), block(true, 3, [32, 100], FRAME))],
    ['is damaged: an interface without its link type', ng(block(true, 1, [32, 1]))],
    ['is cut off in its last block', ng(iface(true, 1, 0)).subarray(0, 40)],
    ['is cut off in its last block', ng(iface(true, 1, 0)).subarray(0, 32)],
    ['is damaged: a block of 11 bytes', Buffer.concat([ng(), build(true, [32, 6], [32, 11], [32, 0])])],
    ['is damaged: a section without byte order', build(true, [32, 0x0a0d0d0a], [32, 28], [32, 1])],
    [
      'has frames with their checksums (FCS)',
      ng(iface(true, 1, 0, [16, 13], [16, 1], Uint8Array.of(4, 0, 0, 0)), enhanced(true, 0, 0n)),
    ],
  ])('%s', (message, bytes) => {
    expect(() => read(bytes)).toThrow(`${path} ${message}`);
  });

  it('reads frames that are larger than its first buffer holds, to the last byte', () => {
    const frames = Array.from({ length: 40 }, (_, i) => ({
      data: new Uint8Array(200_000 + i).fill(i),
      originalLength: 200_000 + i,
      timestamp: NS + BigInt(i),
    }));
    write('pcapng', frames);
    const back = readAll().frames;
    expect(back.map(({ timestamp }) => timestamp)).toEqual(frames.map(({ timestamp }) => timestamp));
    // Element by element, as toEqual() goes, these are too many.
    expect(back.every(({ data }, i) => Buffer.compare(data, frames[i]?.data ?? FRAME) === 0)).toBe(true);
  });
});

function write(format: CaptureFormat, frames: CapturedFrame[]): void {
  using writer = new FrameWriter(path, format);
  for (const frame of frames) writer.write(frame);
  writer.finish();
}

describe('FrameWriter', () => {
  it.each(['pcap', 'pcapng'] as const)('writes %s that is read back, with its times', (format) => {
    const frames = [
      { data: FRAME, originalLength: FRAME.length, timestamp: NS + 123_456_789n },
      { data: FRAME.subarray(0, 14), originalLength: 1500, timestamp: NS + 999_999_999n },
    ];
    write(format, frames);
    expect(readAll()).toEqual({ format, frames });
  });

  it('keeps that a frame of pcapng has no time, unless it was cut', () => {
    const whole = { data: FRAME, originalLength: FRAME.length, timestamp: undefined };
    const part = { data: FRAME, originalLength: 1500, timestamp: undefined };
    write('pcapng', [whole, part]);
    expect(readAll().frames).toEqual([whole, { ...part, timestamp: 0n }]);
  });

  it('writes a time before 1970, which pcap has not, as none', () => {
    write('pcap', [{ data: FRAME, originalLength: FRAME.length, timestamp: -5n }]);
    expect(readAll().frames).toEqual([{ data: FRAME, originalLength: FRAME.length, timestamp: 0n }]);
  });

  it.each(['pcap', 'pcapng'] as const)('writes %s as tshark reads it', (format) => {
    write(format, [
      { data: new Uint8Array(60).fill(0xee), originalLength: 60, timestamp: NS + 123_456_789n },
      { data: new Uint8Array(61).fill(0xee), originalLength: 99, timestamp: NS + 1_000_000_001n },
    ]);
    const fields = ['frame.time_epoch', 'frame.len', 'frame.cap_len', 'eth.src', 'eth.type'];
    const { status, stdout } = spawnSync(
      'tshark',
      ['-r', path, '-T', 'fields', ...fields.flatMap((name) => ['-e', name])],
      {
        encoding: 'utf8',
      },
    );
    expect(status).toBe(0);
    expect(stdout.trim().split('\n')).toEqual([
      '1700000000.123456789\t60\t60\tee:ee:ee:ee:ee:ee\t0xeeee',
      '1700000001.000000001\t99\t61\tee:ee:ee:ee:ee:ee\t0xeeee',
    ]);
  });
});
