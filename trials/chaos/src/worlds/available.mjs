/** @import { Cell } from '../harness/run.mjs' */
import { spawnSync } from 'node:child_process';

/** @type {Map<string, string | undefined>} */
const known = new Map();

/** Why a cell cannot run on this machine, or undefined. @param {Cell} cell */
export function skipped({ disturbance, link }) {
  const kernel =
    link === 'veth' ? reason('unshare', ['--user', '--map-root-user', '--net', 'ip', 'link', 'show', 'lo']) : undefined;
  return (
    kernel ??
    disturbance.impossible?.() ??
    (disturbance.wrap === undefined ? undefined : reason('unshare', ['--user', '--map-root-user', '--mount', 'true']))
  );
}

/** What the program says if it fails. @param {string} program @param {string[]} args */
function reason(program, args) {
  const key = [program, ...args].join(' ');
  if (!known.has(key)) {
    const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
    known.set(key, status === 0 ? undefined : `${key}: ${error?.message ?? stderr.trim()}`);
  }
  return known.get(key);
}
