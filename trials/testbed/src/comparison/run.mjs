import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../../tools/setup/src/paths.mjs';
import { Problem } from '../../../../tools/setup/src/problem.mjs';
import { runCore } from './core-run.mjs';
import { startGuest } from '../guest.mjs';
import { kernelChecks } from './checks.mjs';
import { runRefusals } from './refusals.mjs';

/** @import { Guest } from '../guest.mjs' */
/** @import { KernelResult, Part } from './report.mjs' */

const build = join(root, 'packages/soft/build');

/** Milliseconds of the whole suite, and of one program: emulation on a loaded machine is slow. */
const suiteLimit = 2_400_000;
const programLimit = 400_000;

/** rxe has port 4791 of all addresses: the software NIC of these processes stays within them. */
const softWithoutPort = { VERBS_SOFT: 'soft0,link=process' };

/**
 * Runs the conformance suite, our programs and the tests of @verbs/core over the kernel's verbs.
 * @param {{ parts: readonly Part[], only: string, each: (result: KernelResult) => void }} options
 * @returns {Promise<{ kernel: string }>}
 */
export async function runKernel({ parts: wanted, only, each }) {
  if (wanted.includes('conformance')) buildConformance();
  const guest = await startGuest();
  try {
    const kernel = (await guest.must(['uname', '-r'])).trim();
    if (wanted.includes('conformance')) for (const result of await runConformance(guest, only)) each(result);
    if (wanted.includes('refusals')) for (const result of await runRefusals(guest, only)) each(result);
    const checks = wanted.includes('programs') ? kernelChecks.filter(({ name }) => name.includes(only)) : [];
    for (const check of checks) each(await runCheck(guest, check));
    if (wanted.includes('core')) await runCore(guest, { only, env: softWithoutPort, each });
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
 * @param {import('./checks.mjs').KernelCheck} check
 * @returns {Promise<KernelResult>}
 */
async function runCheck(guest, { name, script, prints, status: wanted = 0 }) {
  const { status, signal, stdout, stderr } = await guest.run(['sh', '-c', script], {
    limit: programLimit,
    env: softWithoutPort,
  });
  const passed = status === wanted && prints.test(stdout);
  const message = passed ? '' : `ended with ${status ?? signal ?? ''}: ${(stderr + stdout).slice(-300)}`;
  return { part: 'programs', name, result: passed ? 'passed' : 'failed', message };
}
