import { handleOf, libibverbs } from '@verbs/core/provider';
import { describe, expect, it } from 'vitest';
import * as mlx5 from '../src/index.js';
import { native } from '../src/native/index.js';
import { open, owned } from './helpers/devices.js';

const { devx, dr } = mlx5;
const NASTY: unknown[] = [
  undefined,
  null,
  0,
  -1,
  NaN,
  2 ** 53,
  1n << 70n,
  'text',
  Symbol('s'),
  [],
  {},
  () => 0,
  new Uint8Array(3),
  new Proxy({}, {}),
];

/** Every function of the package that makes or does something, with a context where the first argument is one. */
const FUNCTIONS = Object.entries({ ...mlx5, ...devx, ...dr }).filter(
  (entry): entry is [string, (...given: unknown[]) => unknown] =>
    typeof entry[1] === 'function' && /^[a-z]/.test(entry[0]) && !['open', 'listDevices'].includes(entry[0]),
);

describe('nothing that JavaScript passes crashes', () => {
  it.each(FUNCTIONS)('%s', (name, call) => {
    const ctx = open();
    const pd = owned(ctx.allocPd());
    for (const first of [ctx, pd, ...NASTY]) {
      for (const second of NASTY) {
        for (const third of [undefined, {}, 7, new Uint8Array(16)]) {
          try {
            const made = call(first, second, third);
            // What came about with such arguments can be closed.
            if (typeof made === 'object' && made !== null && Symbol.dispose in made)
              (made as Disposable)[Symbol.dispose]();
          } catch (error) {
            expect(error, `${name} throws an Error`).toBeInstanceOf(Error);
          }
        }
      }
    }
  });

  it('natively: wrong handles are refused, whatever the function', () => {
    const ctx = open();
    const context = handleOf(ctx, 'Context', 'ctx', 'test');
    const libraries = libibverbs('soft');
    const library = native.openLibrary(mlx5.softModel.library).handle;
    const handles = [context, library, 'handle' in libraries ? libraries.handle : undefined, undefined, {}, 5];
    const skipped = ['setUp', 'openLibrary', 'attachModel'];
    for (const [name, call] of Object.entries(native) as [string, (...given: unknown[]) => unknown][]) {
      if (skipped.includes(name)) continue;
      for (const first of handles) {
        for (const second of handles) {
          try {
            call(first, second, first, second);
          } catch (error) {
            expect(error, name).toBeInstanceOf(Error);
          }
        }
      }
    }
  });

  it('natively: an object of one library does not go to another', () => {
    const ctx = open();
    // The same file by another path is another library for the addon.
    const other = native.openLibrary(mlx5.softModel.library.replace('/lib/', '/lib/./')).handle;
    const context = handleOf(ctx, 'Context', 'ctx', 'test');
    const counter = handleOf(devx.allocFlowCounter(ctx), 'DevxObject', 'obj', 'test');
    const own = handleOf(dr.createDomain(ctx, dr.DomainType.NIC_RX), 'Domain', 'domain', 'test');
    const foreign = native.drDomainCreate(other as never, context, dr.DomainType.NIC_RX) as never;
    const link = (peer: never, domain: never) => native.drAsoOtherDomainLink(counter, peer, domain, 0, 0);
    const [own_, EINVAL, EOPNOTSUPP] = [own as never, -22, -95];
    expect([link(own_, foreign), link(foreign, own_), link(own_, own_)]).toEqual([EINVAL, EINVAL, EOPNOTSUPP]);
    expect(native.drAsoOtherDomainUnlink(counter, foreign)).toBe(EINVAL);
  });

  it('misspelt and missing arguments are named', () => {
    const ctx = open();
    expect(() => mlx5.createFlowMatcher(ctx, { prio: 1 } as never)).toThrow(
      /attr\.prio is not known here; known are matchMask/,
    );
    expect(() => mlx5.createFlowActionPacketReformat(ctx, {} as never)).toThrow(/attr\.reformatType must be a number/);
    expect(() => mlx5.createFlowActionPacketReformat(ctx, { reformatType: 1, ftType: 1, data: [1] as never })).toThrow(
      /attr\.data must be a Uint8Array, for instance of headers/,
    );
    expect(() => mlx5.createFlow(ctx as never, {}, [])).toThrow(/matcher must be a FlowMatcher/);
    const matcher = mlx5.createFlowMatcher(ctx);
    expect(() => mlx5.createFlow(matcher, {}, [ctx as never])).toThrow(/actions\[0\]/);
    expect(() => mlx5.createFlow(matcher, {}, 'drop' as never)).toThrow(/actions must be an array/);
    expect(() => mlx5.createFlow(matcher, { outer: { udp: 1 } } as never, [])).toThrow(
      /match\.outer\.udp is not known/,
    );
    const { FlowActionType: Type } = mlx5;
    const obj = devx.allocFlowCounter(ctx, { bulk: 128 });
    expect(() => mlx5.createFlow(matcher, {}, [{ type: Type.COUNTERS_DEVX, obj, offset: 5 } as never])).toThrow(
      /^actions\[0\]\.offset has no effect with FlowActionType\.COUNTERS_DEVX$/,
    );
    expect(() => mlx5.createFlow(matcher, {}, [{ type: Type.DROP, tagValue: 1 } as never])).toThrow(
      /^actions\[0\]\.tagValue has no effect with FlowActionType\.DROP$/,
    );
    const domain = dr.createDomain(ctx, dr.DomainType.NIC_RX);
    const holes = new Array<never>(2).fill(undefined as never, 1);
    expect(() => mlx5.createFlow(matcher, {}, holes)).toThrow(/^actions\[0\] must be an object/);
    expect(() => dr.createRule(dr.createMatcher(dr.createTable(domain, 1)), {}, holes)).toThrow(
      /^actions\[0\] must be a Action/,
    );
    expect(() => dr.createActionDestArray(domain, holes)).toThrow(/^dests\[0\] must be an object/);
    expect(() => devx.generalCmd(ctx, new Uint8Array(15), 16)).toThrow(/input\.byteLength must be 16 to 65535/);
    expect(() => dr.createTable(ctx as never, 0)).toThrow(/domain must be a Domain/);
  });
});
