import { constants } from 'node:buffer';
import { inspect } from 'node:util';
import * as workerThreads from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { AccessFlags, objectCounts, VerbsError } from '../../src/index.js';
import { native } from '../../src/base/native.js';
import { untransferableHolds } from '../../src/base/node-features.js';
import { kHandle } from '../../src/base/symbols.js';
import { collect } from '../shared/collect.js';
import { ALL_ACCESS, bench } from '../helpers/devices.js';

const { LOCAL_WRITE, REMOTE_WRITE } = AccessFlags;

/** Some versions of Node.js refuse to transfer a marked buffer, others copy it. */
function tryTransfer(buffer: ArrayBuffer): void {
  try {
    structuredClone(buffer, { transfer: [buffer] });
  } catch (error) {
    expect(error).toMatchObject({ name: 'DataCloneError' });
  }
}

describe('allocMr', () => {
  it('gives zeroed, page-aligned memory that stays readable', () => {
    const { pd } = bench();
    const mr = pd.allocMr(5000, LOCAL_WRITE);
    expect(mr.length).toBe(5000);
    expect(mr.addr & 0xfffn).toBe(0n);
    expect(mr.bytes.every((byte) => byte === 0)).toBe(true);
    expect(mr.buffer.byteLength).toBe(5000);
    mr.bytes.fill(7);
    mr.close();
    expect(mr.bytes[4999]).toBe(7);
    expect(inspect(mr)).toMatch(
      /^MemoryRegion #\d+ \(closed\) \{\s+addr: 0x[0-9a-f]+,\s+length: 5000,\s+access: LOCAL_WRITE/,
    );
  });

  it('cannot lose its memory to a transfer', () => {
    const { mr } = bench();
    tryTransfer(mr.buffer as ArrayBuffer);
    expect(mr.buffer.byteLength).toBe(65536);
  });

  it.each([0, -1, 1.5, NaN, Infinity])('refuses a length of %s', (length) => {
    const { pd } = bench();
    expect(() => pd.allocMr(length, LOCAL_WRITE)).toThrow(RangeError);
  });

  it('refuses what is no number, and more than there is', () => {
    const { pd } = bench();
    expect(() => pd.allocMr('1' as never, LOCAL_WRITE)).toThrow(/length must be a number/);
    // @ts-expect-error this has no rights
    expect(() => pd.allocMr(1, -1)).toThrow(/access must be/);
    expect(() => pd.allocMr(2 ** 52, LOCAL_WRITE)).toThrow(constants.MAX_LENGTH < 2 ** 52 ? RangeError : VerbsError);
    expect(() => pd.allocMr(4096, REMOTE_WRITE)).toThrow(
      /^EINVAL: .*: access has AccessFlags\.REMOTE_WRITE without LOCAL_WRITE, which it needs: give AccessFlags\.LOCAL_WRITE \| /,
    );
  });
});

it('survives a buffer that Node.js refuses to make', async () => {
  const { pd, mr } = bench();
  const before = objectCounts();
  // Beyond it the addon is asked directly: pd.allocMr() looks at the length before.
  const length = constants.MAX_LENGTH + 4096;
  const made = () => native.allocMr(pd[kHandle], length, LOCAL_WRITE, undefined, false);
  if (length < 2 ** 40) expect(made).toThrow();
  else expect(made()).toBeLessThan(0);
  await collect();
  expect(objectCounts()).toEqual(before);
  expect(mr.bytes[0]).toBe(0);
});

describe('regMr', () => {
  it('takes a SharedArrayBuffer and views of it', () => {
    const { pd } = bench();
    const shared = new SharedArrayBuffer(8192);
    const whole = pd.regMr(shared, LOCAL_WRITE);
    expect(whole.length).toBe(8192);
    const part = pd.regMr(new Uint16Array(shared, 128, 50), LOCAL_WRITE);
    expect(part.length).toBe(100);
    expect(part.addr - whole.addr).toBe(128n);
    expect(pd.regMr(new DataView(shared, 8, 8), LOCAL_WRITE).length).toBe(8);
  });

  it('takes memory of allocMr again', () => {
    const { pd, mr } = bench();
    const again = pd.regMr(mr.bytes.subarray(100, 200), ALL_ACCESS);
    expect(again.addr - mr.addr).toBe(100n);
    expect(again.rkey).not.toBe(mr.rkey);
  });

  it('takes an ordinary buffer only where its memory stays in its place, or at own risk', () => {
    const { pd } = bench();
    const bytes = new Uint8Array(4096);
    if (untransferableHolds) {
      expect(pd.regMr(bytes, LOCAL_WRITE).length).toBe(4096);
      expect(pd.regMr(bytes.subarray(16), LOCAL_WRITE).length).toBe(4080);
    } else {
      expect(() => pd.regMr(bytes, LOCAL_WRITE)).toThrow(/pd\.allocMr\(length, access\).*unsafe: true/);
    }
    const risky = new Uint8Array(4096);
    expect(pd.regMr(risky, LOCAL_WRITE, { unsafe: true }).length).toBe(4096);
    tryTransfer(risky.buffer);
    expect(risky.byteLength).toBe(4096);
  });

  it('leaves buffers alone that were marked before', () => {
    const { pd } = bench();
    // A piece of Node's pool, which many strings share.
    const pooled = Buffer.from('pooled');
    expect(pooled.buffer.byteLength).toBeGreaterThan(6);
    expect(pd.regMr(pooled, LOCAL_WRITE, { unsafe: true }).length).toBe(6);
    if ('isMarkedAsUntransferable' in workerThreads)
      expect(() => pd.regMr(pooled, LOCAL_WRITE)).toThrow(/unsafe: true/);
  });

  it('refuses buffers that are empty, detached, resizable or none', () => {
    const { pd } = bench();
    const detached = new Uint8Array(16);
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    const resizable = new (ArrayBuffer as new (length: number, options: object) => ArrayBuffer)(16, {
      maxByteLength: 32,
    });
    for (const view of [new Uint8Array(0), detached]) {
      expect(() => pd.regMr(view, LOCAL_WRITE, { unsafe: true })).toThrow(/empty or detached/);
    }
    // Also one that says of itself that it is not.
    const liar = Object.defineProperty(resizable.slice(0), 'resizable', { value: false });
    for (const buffer of [resizable, Object.defineProperty(resizable, 'resizable', { value: false })])
      expect(() => pd.regMr(buffer, LOCAL_WRITE, { unsafe: true })).toThrow(/resizable/);
    expect(pd.regMr(liar, LOCAL_WRITE, { unsafe: true }).length).toBe(16);
    for (const view of [null, 5, {}, 'text', [1]]) {
      expect(() => pd.regMr(view as never, LOCAL_WRITE)).toThrow(/view must be an ArrayBuffer/);
    }
  });
});
