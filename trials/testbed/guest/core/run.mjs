// Runs one test file of @verbs/core in the guest: node --expose-gc run.mjs FILE [SKIPPED], with the file's
// path from the project's root. A line for the start and for the
// end of each test, since a crash ends the process. SKIPPED: names of tests, a JSON array.
import { createRequire, register } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** @import { Task } from './expectations.mjs' */

register('./loader.mjs', import.meta.url);
const [, , file = '', skipped = '[]'] = process.argv;
const root = process.env['VERBS_KERNEL_SOURCES'] ?? '';
/** @type {string[]} */
const without = JSON.parse(skipped);
const { resolve } = createRequire(createRequire(import.meta.url).resolve('vitest/package.json'));
/** @type {import('./expectations.mjs').Runner} */
const { startTests } = await import(resolve('@vitest/runner'));

/** @param {object} line */
const tell = (line) => {
  process.stdout.write(`@test ${JSON.stringify(line)}\n`);
};

/**
 * @param {Task} task
 * @returns {string}
 */
function nameOf(task) {
  const outer = task.suite === undefined ? '' : `${nameOf(task.suite)} > `;
  return outer + task.name;
}

/** @param {Task} task */
function skip(task) {
  if (without.includes(nameOf(task))) task.mode = 'skip';
  for (const inner of task.tasks ?? []) skip(inner);
}

const told = new Set(without);

/** @param {Task} task */
function tellEnd(task) {
  for (const inner of task.tasks ?? []) tellEnd(inner);
  if (task.type !== 'test' || told.has(nameOf(task))) return;
  told.add(nameOf(task));
  const { state = 'skip', errors = [] } = task.result ?? {};
  tell({ name: nameOf(task), state, message: errors.map(({ message }) => message).join('; ') });
}

// Far longer than a test takes under emulation; what never comes there is waited for so long.
const limits = { testTimeout: 240_000, hookTimeout: 240_000 };
const sequence = { hooks: 'stack', concurrent: false, shuffle: false, setupFiles: 'list' };
const config = { root, sequence, ...limits, maxConcurrency: 1, retry: 0, setupFiles: [], allowOnly: true, tags: [] };
const files = await startTests([join(root, file)], {
  config,
  /** @param {string} path */
  importFile: (path) => import(pathToFileURL(path).href),
  /** @param {Task[]} collected */
  onCollected: (collected) => {
    collected.forEach(skip);
  },
  /** @param {Task} task */
  onBeforeRunTask: (task) => {
    if (task.type === 'test' && !told.has(nameOf(task))) tell({ name: nameOf(task), state: 'start' });
  },
  onAfterRunTask: tellEnd,
});
files.forEach(tellEnd);
for (const { result } of files) {
  for (const { message } of result?.errors ?? []) tell({ name: '', state: 'fail', message });
}
process.exit(0);
