import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { coreNative, handleOf } from '../../src/provider/index.js';
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
}

const { nativeApi } = coreNative;
// Built by the package's test script, apart from the addon that it works with.
const addon = createRequire(import.meta.url)('./build/Release/provider.node') as ProviderAddon;

it('refuses another table', () => {
  const { ctx } = bench();
  expect(() => addon.setUp({})).toThrow(TypeError);
  expect(() => addon.setUp(handleOf(ctx, 'Context', 'ctx', 'test'))).toThrow(TypeError);
  expect(addon.setUp(nativeApi)).toBe(4);
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
