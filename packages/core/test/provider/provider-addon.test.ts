import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { QpType } from '../../src/index.js';
import {
  adoptContext,
  adoptQp,
  coreNative,
  handleOf,
  libibverbs,
  type NativeHandle,
  type NativeQp,
  nativeQpInitAttr,
} from '../../src/provider/index.js';
import { bench, createQp, open } from '../helpers/devices.js';
import { collectUntil } from '../shared/collect.js';

interface ProviderAddon {
  setUp(api: object): number;
  portCount(context: unknown): number;
  isSoft(context: unknown): boolean;
  qpNum(qp: unknown): number;
  createThing(pd: unknown): object;
  closeThing(thing: object): number;
  destroyedThings(): number;
  createLoose(parent?: unknown): NativeHandle;
  move(object: unknown, parent: unknown): number;
  borrow(libibverbs: unknown, context: unknown): NativeHandle;
  createQp(attr: unknown, context: unknown, parent: unknown): NativeQp;
}

const { nativeApi } = coreNative;
// Built by the package's test script, apart from the addon that it works with.
const addon = createRequire(import.meta.url)('./build/Release/provider.node') as ProviderAddon;

it('refuses another table', () => {
  const { ctx } = bench();
  expect(() => addon.setUp({})).toThrow(TypeError);
  expect(() => addon.setUp(handleOf(ctx, 'Context', 'ctx', 'test'))).toThrow(TypeError);
  expect(addon.setUp(nativeApi)).toBe(5);
});

it('takes contexts and queue pairs, with the library they belong to', () => {
  addon.setUp(nativeApi);
  const b = bench();
  const context = handleOf(b.ctx, 'Context', 'ctx', 'test');
  expect(addon.portCount(context)).toBe(1);
  expect(addon.isSoft(context)).toBe(true);
  const qp = createQp(b);
  expect(addon.qpNum(handleOf(qp, 'QueuePair', 'qp', 'test'))).toBe(qp.qpNum);
});

it('refuses wrong and closed objects', () => {
  addon.setUp(nativeApi);
  const { ctx, pd } = bench();
  const context = handleOf(ctx, 'Context', 'ctx', 'test');
  for (const junk of [undefined, 5, {}, pd, handleOf(pd, 'ProtectionDomain', 'pd', 'test'), nativeApi]) {
    expect(() => addon.portCount(junk)).toThrow(TypeError);
  }
  ctx.close();
  expect(() => addon.portCount(context)).toThrow(/Context is closed/);
  expect(() => handleOf(ctx, 'Context', 'attr.ctx', 'test_call')).toThrow(
    expect.objectContaining({ code: 'ERR_VERBS_CLOSED', syscall: 'test_call' }),
  );
  expect(() => handleOf({}, 'Context', 'attr.ctx', 'test_call')).toThrow(/attr\.ctx must be a Context/);
});

it("destroys a provider's objects before their parents", async () => {
  addon.setUp(nativeApi);
  const before = addon.destroyedThings();
  const { pd } = bench();
  const things = [1, 2, 3].map(() => addon.createThing(handleOf(pd, 'ProtectionDomain', 'pd', 'test')));
  const [first] = things;
  if (first === undefined) throw new Error('no thing was made');
  expect(addon.closeThing(first)).toBe(0);
  expect(addon.closeThing(first)).toBe(0);
  expect(addon.destroyedThings()).toBe(before + 1);
  pd.close();
  expect(addon.destroyedThings()).toBe(before + 3);

  // An object that is never closed is freed by itself, and its parent after it.
  addon.createThing(handleOf(open().allocPd(), 'ProtectionDomain', 'pd', 'test'));
  expect(await collectUntil(() => addon.destroyedThings() === before + 4)).toBe(true);
});

it('takes objects that belong to no context, and gives them other parents', () => {
  addon.setUp(nativeApi);
  const before = addon.destroyedThings();
  const [one, two] = [addon.createLoose(), addon.createLoose()];
  const child = addon.createLoose(one);
  expect(addon.move(child, two)).toBe(0);
  expect(coreNative.close(one)).toBeUndefined();
  expect([one, two, child].map((each) => coreNative.isOpen(each))).toEqual([false, true, true]);
  expect(coreNative.close(two)).toBeUndefined();
  expect(coreNative.isOpen(child)).toBe(false);
  expect(addon.destroyedThings()).toBe(before + 3);
});

it('borrows a context: closing the object closes what was made from it, and leaves the context', () => {
  addon.setUp(nativeApi);
  const { ctx } = bench();
  const found = libibverbs('soft');
  if ('reason' in found) throw new Error(found.reason);
  const borrowed = adoptContext(ctx.device, addon.borrow(found.handle, handleOf(ctx, 'Context', 'ctx', 'test')));
  const pd = borrowed.allocPd();
  borrowed.close();
  expect(pd.closed).toBe(true);
  expect(ctx.queryDevice().physPortCnt).toBe(1);
});

it('makes and destroys a queue pair by the functions of the provider, below an object of its own', () => {
  addon.setUp(nativeApi);
  const { ctx, pd, cq } = bench();
  const parent = addon.createLoose();
  const attr = { qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } };
  const make = () =>
    adoptQp(
      pd,
      attr,
      addon.createQp(
        nativeQpInitAttr(attr, 'attr', handleOf(pd, 'ProtectionDomain', 'pd', 'test')),
        handleOf(ctx, 'Context', 'ctx', 'test'),
        parent,
      ),
    );
  const before = addon.destroyedThings();
  make().close();
  expect(addon.destroyedThings()).toBe(before + 1);
  const qp = make();
  coreNative.close(parent);
  // The queue pair, then its parent.
  expect(addon.destroyedThings()).toBe(before + 3);
  expect(() => qp.query()).toThrow(/closed/);
  ctx.close();
});
