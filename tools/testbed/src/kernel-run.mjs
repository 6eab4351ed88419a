import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../setup/src/paths.mjs';
import { Problem } from '../../setup/src/problem.mjs';
import { startGuest } from './guest.mjs';
import { kernelChecks } from './kernel-checks.mjs';

/** @import { Guest } from './guest.mjs' */

/**
 * How one case or program ended on rxe.
 * @typedef {object} KernelResult
 * @property {'conformance' | 'programs'} part
 * @property {string} name
 * @property {'passed' | 'failed' | 'skipped'} result
 * @property {string} message
 */

const build = join(root, 'packages/soft/build');

/** Milliseconds of the whole suite, and of one program: emulation on a loaded machine is slow. */
const suiteLimit = 1_200_000;
const programLimit = 200_000;

/** rxe has port 4791 of all addresses: the software NIC of these processes stays within them. */
const softWithoutPort = { VERBS_SOFT: 'soft0,link=process' };

/**
 * Runs the conformance suite and our programs over the kernel's verbs.
 * @param {{ only: string, each: (result: KernelResult) => void }} options
 * @returns {Promise<{ kernel: string }>}
 */
export async function runKernel({ only, each }) {
  buildConformance();
  const guest = await startGuest();
  try {
    const kernel = (await guest.must(['uname', '-r'])).trim();
    for (const result of await runConformance(guest, only)) each(result);
    for (const check of kernelChecks.filter(({ name }) => name.includes(only))) each(await runCheck(guest, check));
    return { kernel };
  } finally {
    await guest.close();
  }
}

function buildConformance() {
  if (!existsSync(join(build, 'build.ninja'))) throw new Problem('build first: npm run setup');
  const { status, stdout } = spawnSync('cmake', ['--build', build, '--target', 'conformance'], { encoding: 'utf8' });
  if (status !== 0) throw new Problem(`the conformance suite does not compile:\n${stdout}`);
}

/**
 * @param {Guest} guest
 * @param {string} only
 * @returns {Promise<KernelResult[]>}
 */
async function runConformance(guest, only) {
  const selection = only === '' ? [] : ['--only', only];
  const command = [join(build, 'conformance'), '--device', 'rxe0', '--json', ...selection];
  const { status, signal, stdout, stderr } = await guest.run(command, { limit: suiteLimit });
  if (status === null || status > 1)
    throw new Problem(`the conformance suite ended with ${status ?? signal ?? ''}: ${stderr}`);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      /** @type {{ case: string, result: KernelResult['result'], message: string }} */
      const { case: name, result, message } = JSON.parse(line);
      return { part: 'conformance', name, result, message };
    });
}

/**
 * @param {Guest} guest
 * @param {import('./kernel-checks.mjs').KernelCheck} check
 * @returns {Promise<KernelResult>}
 */
async function runCheck(guest, { name, script, prints }) {
  const { status, signal, stdout, stderr } = await guest.run(['sh', '-c', script], {
    limit: programLimit,
    env: softWithoutPort,
  });
  const passed = status === 0 && prints.test(stdout);
  const message = passed ? '' : `ended with ${status ?? signal ?? ''}: ${(stderr + stdout).slice(-300)}`;
  return { part: 'programs', name, result: passed ? 'passed' : 'failed', message };
}
