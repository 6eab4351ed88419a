import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { compile } from './compile.mjs';

const source = join(import.meta.dirname, '../../debugger/debugger.c');
/** @type {string | undefined} */
let program;

/** Compiles the program at its first use; it takes a moment. */
const debuggerProgram = () => (program ??= compile('debugger', [source]));

/** @type {{ reason: string | undefined } | undefined} */
let tried;

/** Why this process may not debug its children; undefined if it may. */
export function cannotDebug() {
  if (tried === undefined) {
    const { status, stderr } = spawnSync(debuggerProgram(), [], { encoding: 'utf8' });
    tried = { reason: status === 0 ? undefined : stderr.trim() };
  }
  return tried.reason;
}

/**
 * Stops all threads of a process for a while, as a debugger does.
 * @param {number} pid @param {number} milliseconds
 */
export async function debug(pid, milliseconds) {
  const child = spawn(debuggerProgram(), [String(pid), String(Math.round(milliseconds))], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaint = '';
  child.stderr.on('data', (text) => (complaint += String(text)));
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`the debugger of ${pid} failed: ${complaint.trim()}`);
}
