// Stands for 'vitest' in the guest: its runner and its expectations, without the server that transforms and watches, which
// takes minutes under emulation.
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';

const { resolve } = createRequire(createRequire(import.meta.url).resolve('vitest/package.json'));
/** @type {typeof import('vitest')} */
const runner = await import(resolve('@vitest/runner'));
/** @type {import('./expectations.mjs').Expectations} */
const expectations = await import(resolve('@vitest/expect'));
/** @type {Pick<typeof import('vitest').vi, 'fn'>} */
const { fn } = await import(resolve('@vitest/spy'));
/** @type {Pick<typeof import('vitest'), 'expectTypeOf'>} */
const types = await import(resolve('expect-type'));
const { chai, JestAsymmetricMatchers, JestChaiExpect, JestExtend, ASYMMETRIC_MATCHERS_OBJECT, GLOBAL_EXPECT } =
  expectations;

for (const plugin of [JestExtend, JestChaiExpect, JestAsymmetricMatchers]) chai.use(plugin);
const matchers = /** @type {Record<symbol, object>} */ (/** @type {unknown} */ (globalThis))[
  ASYMMETRIC_MATCHERS_OBJECT
];
/** @type {(value: unknown, message?: string) => unknown} */
const plain = (value, message) => chai.expect(value, message);

/**
 * `expect.poll`: reads and expects again until what is expected holds, or the time is over.
 * @param {() => unknown} read
 * @param {{ timeout?: number, interval?: number }} [options] milliseconds
 */
function poll(read, { timeout = 1000, interval = 50 } = {}) {
  /** @param {PropertyKey[]} path of the expectation: "not", "toBe" */
  const chain = (path) =>
    /** @type {unknown} */ (
      new Proxy(() => undefined, {
        get: (_target, name) => chain([...path, name]),
        apply: async (_target, _self, args) => {
          const end = Date.now() + timeout;
          for (;;) {
            let expectation = plain(await read());
            for (const name of path.slice(0, -1)) expectation = Reflect.get(/** @type {object} */ (expectation), name);
            /** @type {unknown} */
            const matcher = Reflect.get(/** @type {object} */ (expectation), path.at(-1) ?? '');
            try {
              return Reflect.apply(/** @type {() => unknown} */ (matcher), expectation, args);
            } catch (error) {
              if (Date.now() >= end) throw error;
            }
            await sleep(interval);
          }
        },
      })
    );
  return chain([]);
}

export const expect = Object.assign(plain, chai.expect, matchers, { poll });
Object.defineProperty(globalThis, GLOBAL_EXPECT, { value: expect });
expectations.setState({ assertionCalls: 0, isExpectingAssertions: false, expectedAssertionsNumber: null }, expect);

export const { afterAll, afterEach, beforeAll, beforeEach, describe, it, onTestFinished, test } = runner;
export const { expectTypeOf } = types;
export const vi = { fn };
