import { spawn } from 'node:child_process';
import { dropInDirectory } from '@verbs/soft';
import { addresses } from './namespace.mjs';

/** @import { Running } from './guest.mjs' */

/** IPv4 or IPv6. @typedef {4 | 6} Family */

/**
 * The configuration of our NIC at the host's end of the wire, where the kernel's rxe is its peer.
 * @param {Family} family
 * @param {string} [more] options such as a fault
 */
export function softConfiguration(family, more = '') {
  return `soft0,addr=${addresses.host[family]},foreign=*${more === '' ? '' : `,${more}`}`;
}

/**
 * Starts a program on our NIC, as `guest.start` does on rxe.
 * @param {string[]} command
 * @param {string} configuration
 * @returns {Running}
 */
export function startOnSoft([program = '', ...args], configuration) {
  const env = { ...process.env, VERBS_SOFT: configuration, LD_LIBRARY_PATH: dropInDirectory() };
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const text = { stdout: '', stderr: '' };
  /** @type {() => void} */
  let hear = () => undefined;
  /** @type {Promise<void>} */
  const heard = new Promise((resolve) => (hear = resolve));
  for (const stream of /** @type {const} */ (['stdout', 'stderr'])) {
    child[stream].on('data', (data) => {
      text[stream] += String(data);
      hear();
    });
  }
  /** @type {Running['ended']} */
  const ended = new Promise((resolve) => {
    child.once('error', (error) => {
      resolve({ status: 127, signal: error.message, ...text });
    });
    child.once('close', (status, signal) => {
      hear();
      resolve({ status, signal, ...text });
    });
  });
  return { ended, heard: () => heard, kill: () => child.kill('SIGKILL') };
}
