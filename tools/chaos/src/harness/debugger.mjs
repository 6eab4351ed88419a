import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

const source = join(import.meta.dirname, '../../debugger/debugger.c');
const build = join(import.meta.dirname, '../../build');

/** @type {string | undefined} */
let program;

/** Compiles the program at its first use; it takes a moment. */
function debuggerProgram() {
  if (program !== undefined) return program;
  mkdirSync(build, { recursive: true });
  const [path, made] = [join(build, 'debugger'), join(build, `debugger-${process.pid}`)];
  const args = ['-std=c11', '-O1', '-g', '-Wall', '-Wextra', '-Werror', '-o', made, source];
  const { status, stderr } = spawnSync(process.env['CC'] ?? 'cc', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${source} does not compile: ${stderr}`);
  renameSync(made, path);
  return (program = path);
}

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
