import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { handleOf } from '@verbs/core/provider';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  devx,
  FlowActionType as Type,
  FlowTableType,
  schedLeafCreate,
  schedNodeCreate,
  softModel,
} from '../src/index.js';
import { libraries } from '../src/base/libraries.js';
import { native, type NativeHandle, type NativeLibrary } from '../src/native/index.js';
import { open } from './helpers/devices.js';
import { INNER, Port } from './helpers/frames.js';

// mlx5dv_create_flow of the releases 60.0 to 62.0 walks its actions in steps of 24 bytes, without another symbol: the name
// of the library's file tells them. Here are libraries with such names; the vendor's cannot be had for each release.

const folder = mkdtempSync(join(tmpdir(), 'verbs-mlx5-stride-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Compiles it with the name of the file of a release, and loads it by a link, as a distribution installs it. */
function release(file: string, source: string, ...options: string[]): NativeLibrary {
  execFileSync('cc', ['-shared', '-fPIC', '-o', join(folder, file), source, ...options]);
  const link = join(folder, `${file}.link`);
  symlinkSync(file, link);
  const { handle, reason } = native.openLibrary(link);
  if (handle === undefined) throw new Error(reason);
  return handle;
}

describe('the release is told by the name of the file', () => {
  const source = join(folder, 'name.c');
  writeFileSync(source, '_Bool mlx5dv_is_supported(void *device) { return device == 0; }\n');

  it.each([
    ['libmlx5.so.1.24.44.0', 16],
    ['libmlx5.so.1.25.56.1', 16],
    ['libmlx5.so.1.25.59.0', 16],
    ['libmlx5.so.1.25.60.0', 24],
    ['libmlx5.so.1.25.60.1', 24],
    ['libmlx5.so.1.25.60.2', 16],
    ['libmlx5.so.1.25.61.0', 24],
    ['libmlx5.so.1.25.61.1', 16],
    ['libmlx5.so.1.26.62.0', 24],
    ['libmlx5.so.1.26.62.1', 16],
    ['libmlx5.so.1.27.63.0', 16],
    ['libmlx5.so.1.27.65.0', 16],
    ['libmlx5-of-somebody.so', 16],
  ])('%s: %i bytes', (file, size) => {
    expect(native.flowActionSize(release(file, source))).toBe(size);
  });
});

describe('the actions of a flow arrive', () => {
  const source = join(import.meta.dirname, 'programs/libmlx5.c');
  const twin = (file: string, ...options: string[]) =>
    release(file, source, `-DMODEL="${softModel.library}"`, ...options);

  it.each([
    ['44', 'libmlx5.so.1.24.44.9', ['-DSTRIDE=16']],
    ['60.1, whose step is longer', 'libmlx5.so.1.25.60.1.twin', ['-DSTRIDE=24']],
    ['61.0, whose step is longer', 'libmlx5.so.1.25.61.0.twin', ['-DSTRIDE=24']],
    ['65, by the function that gets the step', 'libmlx5.so.1.27.65.0.twin', ['-DSTRIDE=16', '-DNEWER']],
  ])('with release %s', async (_name, file, options) => {
    const ctx = open();
    expect(libraries.find('soft')).toHaveProperty('vendor');
    const library = twin(file, ...options);
    const port = new Port(ctx);
    const counter = devx.allocFlowCounter(ctx);
    const matcher = checked(
      native.createFlowMatcher(library, handleOf(ctx, 'Context', 'ctx', 'test'), {
        ...{ type: 0, flags: 0, priority: 0, matchCriteriaEnable: 0, matchMask: new Uint8Array(0x180) },
        ...{ compMask: 1n, ftType: FlowTableType.NIC_RX, ibPort: 0 },
      }),
    );
    checked(
      native.createFlow(matcher, new Uint8Array(0x180), [
        { type: Type.TAG, tagValue: 0x123 },
        { type: Type.COUNTERS_DEVX, object: handleOf(counter, 'DevxObject', 'counter', 'test') },
        { type: Type.DEST_IBV_QP, object: handleOf(port.qp, 'QueuePair', 'qp', 'test') },
      ]),
    );
    await port.send(INNER);
    const { bytes, wc } = await port.receiveOne();
    expect([Buffer.from(bytes).equals(INNER), wc.flowTag, counter.read().packets]).toEqual([true, 0x123, 1n]);
  });
});

it('shares of the bandwidth change in their place in the tree, which the library wants to hear again', () => {
  const ctx = open();
  const options = [`-DMODEL="${softModel.library}"`, '-DSTRIDE=16'];
  const vendor = release('libmlx5.so.1.24.44.8', join(import.meta.dirname, 'programs/libmlx5.c'), ...options);
  const pair = { ...libraries.for('soft', 'test'), vendor, handle: handleOf(ctx, 'Context', 'ctx', 'test') };
  vi.spyOn(libraries, 'for').mockReturnValue(pair);
  vi.spyOn(libraries, 'forContext').mockReturnValue(pair);
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  const root = schedNodeCreate(ctx);
  const node = schedNodeCreate(ctx, { parent: root, bwShare: 1 });
  const leaf = schedLeafCreate(ctx, { parent: node, maxAvgBw: 100 });
  node.modify({ bwShare: 2 });
  leaf.modify({ maxAvgBw: 200 });
  expect(() => {
    root.modify({ bwShare: 2 });
  }).toThrow(/EINVAL.*a node without a parent has neither bwShare nor maxAvgBw/);
});

function checked(result: NativeHandle | number): NativeHandle {
  if (typeof result === 'number') throw new Error(`errno ${-result}`);
  return result;
}
