// The trial uverbs in a root: that release's libibverbs, libmlx5 and librxe over the emulated kernel, and its headers.
import { spawnSync } from 'node:child_process';

/** @import { Result } from './checks.mjs' */
/** @import { Release } from './releases.mjs' */
/** @import { Root } from './root.mjs' */

/** What it is compiled and run with. */
export const uverbsPackages = ['g++', 'ibverbs-providers', 'libibverbs-dev', 'nodejs'];

/**
 * @param {Root} root
 * @param {Release} release
 * @returns {Result}
 */
export function checkUverbs(root, { suite }) {
  if (suite === 'bookworm') return { check: 'uverbs', text: 'its Node is too old; npm test has it', failures: [] };
  const [program, ...args] = root.enter('node', `${root.checkout}/trials/uverbs/bin/uverbs.mjs`);
  const { status, stdout, stderr } = spawnSync(program ?? '', args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  const text = /^uverbs: (.*)$/m.exec(stdout)?.[1];
  if (status === 0 && text !== undefined) return { check: 'uverbs', text, failures: [] };
  const last = `${stdout}\n${stderr}`.trim().split('\n').slice(-20).join('\n');
  return { check: 'uverbs', text: text ?? `ended with ${status ?? 'a signal'}`, failures: [last] };
}
