import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { QpType } from '@verbs/core';
import { handleOf } from '@verbs/core/provider';
import { library as softLibrary } from '@verbs/soft';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { QpCaps } from '../src/index.js';
import { native, type NativeLibrary } from '../src/native.js';
import { configureDevices, end, open, textIn, toInit, toRtr, toRts, write } from './helpers/devices.js';

// Two libraries with the structures of the two libhbl that there are, called with objects of the software NIC.

const source = join(import.meta.dirname, 'programs/libhbl.c');
const shared = join(import.meta.dirname, '../../core/test/shared');
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'verbs-hbl-layouts-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function compile(name: string, ...options: string[]): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  const version = join(import.meta.dirname, 'programs/libhbl.map');
  const versions = options.includes('-DSDK') ? [] : [`-Wl,--version-script=${version}`];
  execFileSync('cc', ['-shared', '-fPIC', '-o', file, source, `-I${shared}`, ...options, ...versions]);
  return file;
}

function library(name: string, ...options: string[]): NativeLibrary {
  const opened = native.openLibrary(compile(name, ...options));
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
  collLagIdx: 0,
  collLastInLag: 0,
  collLagSize: 0,
};
const port = { portNum: 1, caps: 0n, wqArrAttr: [], qpWqBpOffs: [], atomicFnaFifoOffs: [], atomicFnaMaskSize: 0 };
const atomic = { ...port, atomicFnaFifoOffs: [1, 2], atomicFnaMaskSize: 1 };
const fifo = { portNum: 1, usrFifoNumHint: 0, usrFifoType: 2, baseSobAddr: 0, numSobs: 0, dirDupMask: 0 };
const collective = { ...fifo, baseSobAddr: 1, numSobs: 2, dirDupMask: 1 };

const EOPNOTSUPP = -95;
const EPROTO = -71;

describe("the library of 2024's submission", () => {
  it('tells the mask of ports, and lacks what came later', () => {
    const hbl = library('libhbl.so.1');
    const { context, pd, qp } = objects();
    expect(native.queryDevice(hbl, context)).toEqual({ caps: 3n, portsMask: 6n, numPorts: 2 });
    expect(native.queryPort(hbl, context, 1)).toEqual({
      maxNumOfQps: 100,
      numAllocatedQps: 101,
      maxAllocatedQpNum: 102,
      maxCqSize: 103,
      advanced: false,
      maxNumOfCqs: 1,
      maxNumOfUsrFifos: 2,
      maxNumOfEncaps: 3,
      nicMacroIdx: 4,
      nicPhysPortIdx: 5,
    });
    expect(native.migrateQp(hbl, qp)).toBe(EOPNOTSUPP);
    expect(native.reserveCollQps(hbl, pd, { isScaleOut: 0, portsMask: 2n })).toBe(EOPNOTSUPP);
    expect(native.reserveCollSchedResources(hbl, context)).toBe(EOPNOTSUPP);
    for (const caps of [QpCaps.SACK, QpCaps.COLL, QpCaps.MIGRATE]) {
      const given = { ...attr, caps: BigInt(caps) };
      expect(native.modifyQp(hbl, qp, {}, 0, undefined, given, undefined, undefined)).toBe(EOPNOTSUPP);
    }
  });

  it('gets nothing where its structures are reserved', () => {
    const hbl = library('libhbl.so.1');
    const { context, qp } = objects();
    expect(native.setPortEx(hbl, context, port)).toBe(0);
    expect(native.setPortEx(hbl, context, atomic)).toBe(EOPNOTSUPP);
    expect(native.createUsrFifo(hbl, context, collective)).toBe(EOPNOTSUPP);
    const grouped = { ...attr, caps: 0n, collLagSize: 2 };
    expect(native.modifyQp(hbl, qp, {}, 0, undefined, grouped, undefined, undefined)).toBe(EOPNOTSUPP);
  });

  it('with a structure of another length is refused, and nothing of ours is overwritten', () => {
    const { context } = objects();
    // As long as that of the SDK, but without its functions.
    expect(native.queryDevice(library('longer/libhbl.so.1', '-DLONGER=16'), context)).toBe(EPROTO);
  });
});

describe("the Gaudi SDK's library", () => {
  it('has longer structures and no versions, and is told by its functions', () => {
    const hbl = library('sdk/libhbl.so', '-DSDK');
    const { context, pd, qp, other } = objects();
    expect(native.queryDevice(hbl, context)).toEqual({ caps: 3n, portsMask: 0xen, numPorts: 3, extPortsMask: 8n });
    expect(native.queryPort(hbl, context, 2)).toMatchObject({
      maxNumOfScaleOutCollQps: 204,
      maxNumOfCollQps: 205,
      baseScaleOutCollQpNum: 206,
      baseCollQpNum: 207,
      collQpsOffset: 208,
    });
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
    // Of another context, it is perhaps none of this library.
    const foreign = handleOf(end(open('hbl_1')).qp, 'QueuePair', 'qp', 'test');
    expect(native.modifyQp(hbl, qp, {}, 0, undefined, migrates, undefined, foreign)).toBe(-22);
    expect(native.setPortEx(hbl, context, atomic)).toBe(-121);
    expect(native.createUsrFifo(hbl, context, collective)).toBe(-121);
  });

  it('of a release to come may fill more: what is told is right, or an error', () => {
    const { context, pd } = objects();
    const longer = library('longer/libhbl.so', '-DSDK', '-DLONGER=200');
    expect(native.queryDevice(longer, context)).toBe(EPROTO);
    expect(native.queryPort(longer, context, 1)).toMatchObject({ maxNumOfQps: 100, collQpsOffset: 108 });
    expect(native.reserveCollQps(longer, pd, { isScaleOut: 0, portsMask: 6n })).toEqual({ qpNum: 6 });
    expect(native.reserveCollSchedResources(longer, context)).toHaveLength(256);
    // All the room that there is: whether the library stopped there cannot be known.
    const longest = library('longest/libhbl.so', '-DSDK', '-DLONGER=256');
    expect(native.queryPort(longest, context, 1)).toBe(EPROTO);
    expect(native.reserveCollQps(longest, pd, { isScaleOut: 0, portsMask: 6n })).toBe(EPROTO);
    expect(native.reserveCollSchedResources(longest, context)).toBe(EPROTO);
  });
});

/** The package as a program finds it that starts in such an environment. */
async function packageWith(environment: Record<string, string>) {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  vi.resetModules();
  try {
    const hbl = await import('../src/index.js');
    hbl.listDevices();
    return hbl;
  } finally {
    vi.unstubAllEnvs();
  }
}

describe('the places of the library', () => {
  it('begin with the folder that a program names', async () => {
    vi.stubEnv('RDMA_CORE_LIB', '/somewhere/lib');
    vi.stubEnv('RDMA_CORE_ROOT', '/elsewhere');
    const { libraries } = await import('../src/libraries.js');
    const places = libraries.about.places?.();
    vi.unstubAllEnvs();
    expect(places).toEqual([
      '/somewhere/lib/libhbl.so',
      'libhbl.so.1',
      'libhbl.so',
      '/elsewhere/build/lib/libhbl.so',
      '/opt/habanalabs/rdma-core/src/build/lib/libhbl.so',
    ]);
  });

  it('are told where the library is in none of them', async () => {
    const missing = join(folder, 'nothing');
    const hbl = await packageWith({ RDMA_CORE_LIB: missing, VERBS_SOFT: '' });
    const listed = hbl.listDevices();
    expect(listed.every(({ library }) => library === 'soft')).toBe(true);
    const { libraries } = await import('../src/libraries.js');
    expect(libraries.find('system')).toMatchObject({
      reason: expect.stringMatching(/nothing\/libhbl\.so: cannot open .* set RDMA_CORE_LIB to the folder/) as string,
    });
  });
});

describe("the SDK's own build of libibverbs", () => {
  it("lists, opens and drives the SDK's devices by its functions hlibv_*", async () => {
    configureDevices();
    const file = compile('own/libhbl.so', '-DSDK', `-DVERBS="${softLibrary}"`);
    const hbl = await packageWith({ RDMA_CORE_LIB: dirname(file) });
    const listed = hbl.listDevices().map(({ library, name }) => `${library} ${name}`);
    expect(listed).toEqual(['system hbl_0', 'system hbl_1', 'soft hbl_0', 'soft hbl_1']);
    // The first is hardware, as the package sees it.
    using ctx = hbl.openDevice('hbl_1');
    expect(ctx.device.library).toBe('system');
    // Only the library's own function has that mark.
    expect(ctx.queryDevice().fwVer).toMatch(/^sdk-/);
    expect(hbl.queryDevice(ctx)).toMatchObject({ numPorts: 3, portsMask: 0xen });
    const [one, two] = [end(ctx), end(ctx)];
    for (const [from, to] of [
      [one, two],
      [two, one],
    ] as const) {
      for (const step of [toInit(), toRtr(to), toRts()]) from.qp.modify(step);
    }
    expect(await write(one, two, 'by hlibv_post_send')).toBe('SUCCESS');
    expect(textIn(two, 18)).toBe('by hlibv_post_send');
  });

  it('is not used where a function of it is missing', async () => {
    configureDevices();
    const file = compile('less/libhbl.so', '-DSDK', `-DVERBS="${softLibrary}"`, '-DLESS');
    const hbl = await packageWith({ RDMA_CORE_LIB: dirname(file) });
    expect(hbl.listDevices().map(({ library, name }) => `${library} ${name}`)).toEqual(['soft hbl_0', 'soft hbl_1']);
  });
});
