import { createRequire } from 'node:module';
import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import type * as main from '../src/index.js';
import type * as kit from '../src/provider/index.js';

const require = createRequire(import.meta.url);
// A name that the compiler does not look up: the built files need not be there for it.
const imported = (name: string): Promise<unknown> => import(new URL(`../dist/${name}.js`, import.meta.url).href);
const required = (name: string): Promise<unknown> => Promise.resolve(require(`../dist/${name}.cjs`));

it.each([imported, required])('has the classes and the state once (%o)', async (load) => {
  const entries = { main: (await load('index')) as typeof main, kit: (await load('provider')) as typeof kit };
  expect(Object.getPrototypeOf(entries.main.ProtectionDomain)).toBe(entries.kit.Resource);
  // VerbsError's instanceof holds across copies: the constructor shows whether there is only one.
  expect(entries.kit.closedError('Context', 'ibv_open_device').constructor).toBe(entries.main.VerbsError);
  // One counter numbers all objects, whichever entry's class makes them.
  class Thread extends entries.kit.Resource {
    protected override describe() {
      return {};
    }
  }
  using ctx = entries.main.openDevice('soft0');
  const handle = entries.kit.coreNative.allocTd(entries.kit.handleOf(ctx, 'Context', 'ctx', 'test'));
  using thread = new Thread('Thread', handle as kit.NativeHandle, 'ibv_dealloc_td', [ctx]);
  const number = (object: object) => Number(/#(\d+)/.exec(inspect(object))?.[1]);
  expect(number(thread)).toBe(number(ctx) + 1);
});

it('offers the provider kit by its own entry only', async () => {
  expect(await imported('index')).not.toHaveProperty('handleOf');
  expect(await imported('provider')).not.toHaveProperty('openDevice');
});
