import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../../tools/setup/src/paths.mjs';
import { Problem } from '../../../../tools/setup/src/problem.mjs';

/** @import { Guest } from '../guest.mjs' */
/** @import { KernelResult } from './report.mjs' */

const build = join(root, 'packages/rdmacm/build');
const recording = join(root, 'packages/rdmacm/test/refusals/kernel.txt');
/** Milliseconds of the whole suite: emulation on a loaded machine is slow. */
const limit = 2_400_000;

/**
 * What the kernel's librdmacm answers to bad arguments, against the recording that our library is held to.
 * @param {Guest} guest
 * @param {string} only
 * @returns {Promise<KernelResult[]>}
 */
export async function runRefusals(guest, only) {
  const program = buildRefusals();
  // One of the cases gives up root's rights, and opens the devices afterwards.
  const script = 'chmod 666 /dev/infiniband/*; exec "$@"';
  const command = ['sh', '-c', script, 'sh', program, '10.77.1.1', 'fd77:1::1', only];
  const { status, signal, stdout, stderr } = await guest.run(command, { limit });
  if (status !== 0) throw new Problem(`the refusals ended with ${status ?? signal ?? ''}: ${stderr}`);
  const recorded = casesOf(readFileSync(recording, 'utf8'));
  return [...casesOf(stdout)].map(([name, lines]) => {
    const expected = recorded.get(name);
    const same = expected === lines;
    const message = same ? '' : `recorded: ${expected ?? 'nothing'}\nnow: ${lines}`;
    return { part: 'refusals', name, result: same ? 'passed' : 'failed', message };
  });
}

function buildRefusals() {
  if (!existsSync(join(build, 'build.ninja'))) throw new Problem('build first: npm run setup');
  const { status, stdout } = spawnSync('cmake', ['--build', build, '--target', 'refusals'], { encoding: 'utf8' });
  if (status !== 0) throw new Problem(`the refusals do not compile:\n${stdout}`);
  return join(build, 'bin/refusals');
}

/**
 * The lines of each case. What ends a case, such as a crash, is in the margin, behind its last call.
 * @param {string} text
 */
function casesOf(text) {
  /** @type {Map<string, string>} */
  const cases = new Map();
  let name = '';
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    if (line.startsWith('  ') || line === 'crashes' || line === 'blocks') {
      cases.set(name, `${cases.get(name) ?? ''}${line}\n`);
    } else {
      name = line;
      cases.set(name, '');
    }
  }
  return cases;
}
