import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import * as source from '../../src/index.js';
import * as kit from '../../src/provider/index.js';
import { native } from '../../src/base/native.js';
import { open } from '../helpers/devices.js';

const { VerbsError } = source;

it("has the shape of Node's own errors", () => {
  const error = new VerbsError(22, 'ibv_create_ah', { hint: 'do this', detail: 'of that' });
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: 'VerbsError', code: 'EINVAL', errno: -22, syscall: 'ibv_create_ah' });
  expect(error.message).toBe('EINVAL: invalid argument, ibv_create_ah of that: do this');
  expect(error.stack).toMatch(/^VerbsError: EINVAL/);
  expect('cause' in error).toBe(false);
  expect(Object.keys(error).sort()).toEqual(['code', 'errno', 'syscall']);
});

it('takes either sign, and knows names that Node does not', () => {
  expect(new VerbsError(-121, 'x').code).toBe('EREMOTEIO');
  expect(new VerbsError(4711, 'x')).toMatchObject({ code: 'errno 4711', message: 'errno 4711: unknown error, x' });
});

it('is recognised across copies, and nothing else is', () => {
  const copy = createRequire(import.meta.url)('../../dist/index.cjs') as typeof source;
  expect(copy.VerbsError).not.toBe(VerbsError);
  expect(new copy.VerbsError(22, 'x')).toBeInstanceOf(VerbsError);
  expect(new VerbsError(22, 'x')).toBeInstanceOf(copy.VerbsError);
  class Special extends VerbsError {}
  expect(new Special(22, 'x')).toBeInstanceOf(VerbsError);
  expect(new VerbsError(22, 'x')).not.toBeInstanceOf(Special);
  for (const other of [new Error('x'), {}, null, undefined, 5]) expect(other).not.toBeInstanceOf(VerbsError);
});

it('works with objects of the other copy', () => {
  const copy = createRequire(import.meta.url)('../../dist/index.cjs') as typeof source;
  const ctx = open();
  const channel = ctx.createCompChannel();
  using other = copy.openDevice('soft0');
  // The channel is understood, but it belongs to another context.
  expect(() => other.createCq(8, { channel: channel })).toThrow(/EINVAL/);
  const cq = ctx.createCq(8, { channel });
  const copyOfKit = createRequire(import.meta.url)('../../dist/provider.cjs') as typeof kit;
  expect(copyOfKit.handleOf(cq, 'CompletionQueue', 'cq', 'x')).toBe(kit.handleOf(cq, 'CompletionQueue', 'cq', 'x'));
});

it('has texts for completions', () => {
  expect(source.wcStatusText(source.WcStatus.RETRY_EXC_ERR)).toMatch(/retry/i);
  expect(source.enumName(source.WcStatus, 12)).toBe('RETRY_EXC_ERR');
  expect(source.enumName(source.WcStatus, 99)).toBe('99');
  expect(source.flagNames(source.AccessFlags, 0)).toBe('NONE');
  expect(source.flagNames(source.AccessFlags, 3 | (1 << 30))).toBe('LOCAL_WRITE|REMOTE_WRITE|0x40000000');
  for (const value of [0x80000000, 1 << 31]) expect(source.flagNames(source.AccessFlags, value)).toBe('0x80000000');
  expect(source.flagNames(source.AccessFlags, 0xffffffff)).not.toContain('-');
  expect(source.flagNames({ TOP: 0x80000000 }, 1 << 31)).toBe('TOP');
  expect(native.errnoName(0)).toBe('0');
});
