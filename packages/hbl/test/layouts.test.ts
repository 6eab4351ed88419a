import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { QpType } from '@verbs/core';
import { handleOf } from '@verbs/core/provider';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QpCaps } from '../src/index.js';
import { native, type NativeLibrary } from '../src/native.js';
import { configureDevices, open } from './helpers/devices.js';

// Two libraries with the structures of the two libhbl that there are, called with objects of the software NIC.

const source = join(import.meta.dirname, 'programs/libhbl.c');
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'verbs-hbl-layouts-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function library(name: string, ...options: string[]): NativeLibrary {
  const file = join(folder, name);
  mkdirSync(join(file, '..'), { recursive: true });
  const version = join(import.meta.dirname, 'programs/libhbl.map');
  const versions = options.includes('-DSDK') ? [] : [`-Wl,--version-script=${version}`];
  execFileSync('cc', ['-shared', '-fPIC', '-o', file, source, ...options, ...versions]);
  const opened = native.openLibrary(file);
  if (opened.handle === undefined) throw new Error(opened.reason);
  return opened.handle;
}

function objects() {
  configureDevices();
  const ctx = open();
  const pd = ctx.allocPd();
  const cq = ctx.createCq(4);
  const create = () => {
    const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } });
    return handleOf(qp, 'QueuePair', 'qp', 'test');
  };
  return {
    context: handleOf(ctx, 'Context', 'ctx', 'test'),
    pd: handleOf(pd, 'ProtectionDomain', 'pd', 'test'),
    qp: create(),
    other: create(),
  };
}

const attr = {
  localKey: 0,
  remoteKey: 0,
  congestionWnd: 0,
  destWqSize: 0,
  wqType: 1,
  wqGranularity: 0,
  priority: 1,
  encapNum: 0,
  collLagIdx: 7,
  collLastInLag: 0,
  collLagSize: 0,
};

describe("the library of 2024's submission", () => {
  it('tells the mask of ports, and lacks what came later', () => {
    const hbl = library('libhbl.so.1');
    const { context, pd, qp } = objects();
    expect(native.queryDevice(hbl, context)).toEqual({ caps: 3n, portsMask: 6n, numPorts: 2 });
    const unsupported = -95;
    expect(native.migrateQp(hbl, qp)).toBe(unsupported);
    expect(native.reserveCollQps(hbl, pd, { isScaleOut: 0, portsMask: 2n })).toBe(unsupported);
    expect(native.reserveCollSchedResources(hbl, context)).toBe(unsupported);
    for (const caps of [QpCaps.SACK, QpCaps.COLL, QpCaps.MIGRATE]) {
      const given = { ...attr, caps: BigInt(caps) };
      expect(native.modifyQp(hbl, qp, {}, 0, undefined, given, undefined, undefined)).toBe(unsupported);
    }
  });
});

describe("the Gaudi SDK's library", () => {
  it('has longer structures and no versions, and is told by its functions', () => {
    const hbl = library('sdk/libhbl.so', '-DSDK');
    const { context, pd, qp, other } = objects();
    expect(native.queryDevice(hbl, context)).toEqual({ caps: 3n, portsMask: 0xen, numPorts: 3, extPortsMask: 8n });
    expect(native.reserveCollQps(hbl, pd, { isScaleOut: 1, portsMask: 6n })).toEqual({ qpNum: 1006 });
    const resources = native.reserveCollSchedResources(hbl, context);
    expect(resources).toHaveLength(256);
    expect(Array.isArray(resources) && resources[20]).toEqual({
      type: 7,
      id: 20,
      size: 4096n,
      paOffs: 1280,
      virtAddr: 0x7000000000n,
    });
    const migrates = { ...attr, caps: BigInt(QpCaps.MIGRATE) };
    expect(native.modifyQp(hbl, qp, {}, 0, undefined, migrates, undefined, other)).toBe(0);
    // The library answers 0 only for the queue pair that it was given.
    expect(native.migrateQp(hbl, other)).toBe(0);
    expect(native.migrateQp(hbl, qp)).toBe(-22);
  });

  it('is found in the places of the SDK', async () => {
    library('places/libhbl.so', '-DSDK');
    process.env['RDMA_CORE_LIB'] = join(folder, 'places');
    try {
      const { libraries } = await import('../src/libraries.js');
      expect(libraries.about.places?.()[0]).toBe(join(folder, 'places/libhbl.so'));
      expect(native.openLibrary(libraries.about.places?.()[0] ?? '').handle).toBeDefined();
    } finally {
      delete process.env['RDMA_CORE_LIB'];
    }
  });
});
