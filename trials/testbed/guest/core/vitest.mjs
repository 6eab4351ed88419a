// Stands for 'vitest' in the guest: its runner and its expectations, without the server that transforms and watches, which
// takes minutes under emulation.
import { createRequire } from 'node:module';

const { resolve } = createRequire(createRequire(import.meta.url).resolve('vitest/package.json'));
/** @type {typeof import('vitest')} */
const runner = await import(resolve('@vitest/runner'));
/** @type {import('./expectations.mjs').Expectations} */
const expectations = await import(resolve('@vitest/expect'));
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
export const expect = Object.assign(plain, chai.expect, matchers);
Object.defineProperty(globalThis, GLOBAL_EXPECT, { value: expect });
expectations.setState({ assertionCalls: 0, isExpectingAssertions: false, expectedAssertionsNumber: null }, expect);

export const { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } = runner;
export const { expectTypeOf } = types;
