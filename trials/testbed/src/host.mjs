import { spawn } from 'node:child_process';
import { dropInDirectory } from '@verbs/soft';
import { softModel as rdmacm } from '@verbs/rdmacm';
import { addresses } from './namespace.mjs';
import { Output } from './output.mjs';

/** @import { Running } from './guest.mjs' */

/** IPv4 or IPv6. @typedef {4 | 6} Family */

/**
 * The configuration of our NIC at the host's end of the wire, where the kernel's rxe is its peer.
 * @param {Family} family
 * @param {string} [more] options such as a fault
 */
export function softConfiguration(family, more = '') {
  return `soft0,addr=${addresses.host[family]}${more === '' ? '' : `,${more}`}`;
}

/**
 * Starts a program on our NIC, as `guest.start` does on rxe.
 * @param {string[]} command
 * @param {string} configuration empty: the default, a device with the addresses of the host
 * @returns {Running}
 */
export function startOnSoft([program = '', ...args], configuration) {
  const env = { ...process.env, VERBS_SOFT: configuration, LD_LIBRARY_PATH: dropInDirectory([rdmacm]) };
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = new Output();
  for (const stream of /** @type {const} */ (['stdout', 'stderr'])) {
    child[stream].on('data', (data) => {
      output.add(stream, String(data));
    });
  }
  /** @type {Running['ended']} */
  const ended = new Promise((resolve) => {
    /** @param {number | null} status @param {string | null} signal */
    const end = (status, signal) => {
      output.end();
      resolve({ status, signal, stdout: output.stdout, stderr: output.stderr });
    };
    child.once('error', (error) => {
      end(127, error.message);
    });
    child.once('close', end);
  });
  return {
    ended,
    heard: () => output.heard(),
    says: (text) => output.says(text),
    kill: () => child.kill('SIGKILL'),
  };
}
