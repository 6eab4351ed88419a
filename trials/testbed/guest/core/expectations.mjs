/**
 * A test or a group of tests, as vitest's runner has it.
 * @typedef {object} Task
 * @property {string} name
 * @property {'test' | 'suite'} type
 * @property {string} mode
 * @property {Task} [suite]
 * @property {Task[]} [tasks]
 * @property {{ state?: string, errors?: { message: string }[] }} [result]
 */

/**
 * @typedef {object} Runner
 * @property {(files: string[], runner: object) => Promise<Task[]>} startTests
 */

/**
 * What is used of vitest's expectations.
 * @typedef {object} Expectations
 * @property {{ use: (plugin: unknown) => void, expect: (value: unknown, message?: string) => unknown }} chai
 * @property {unknown} JestAsymmetricMatchers
 * @property {unknown} JestChaiExpect
 * @property {unknown} JestExtend
 * @property {symbol} ASYMMETRIC_MATCHERS_OBJECT
 * @property {symbol} GLOBAL_EXPECT
 * @property {(state: object, expect: unknown) => void} setState
 */

export {};
