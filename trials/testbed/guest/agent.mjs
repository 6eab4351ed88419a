// Runs commands in the guest for src/guest.mjs: JSON lines on the standard input ask, JSON lines on the standard output
// answer. A boot serves many commands so.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** @import { Answer, Question } from '../src/guest.mjs' */

/** @type {Map<number, import('node:child_process').ChildProcess>} */
const running = new Map();

/** @param {Answer} message */
function answer(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/** @param {Extract<Question, { command: string[] }>} question */
function start({ id, command: [program = '', ...args], cwd, env }) {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  running.set(id, child);
  /** @type {(stream: 'stdout' | 'stderr') => (data: Buffer) => void} */
  const forward = (stream) => (data) => {
    answer({ id, stream, text: String(data) });
  };
  child.stdout.on('data', forward('stdout'));
  child.stderr.on('data', forward('stderr'));
  child.once('error', (error) => {
    running.delete(id);
    answer({ id, status: 127, signal: error.message });
  });
  child.once('close', (status, signal) => {
    if (running.delete(id)) answer({ id, status, signal });
  });
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const question = /** @type {Question} */ (JSON.parse(line));
  if ('command' in question) {
    start(question);
    return;
  }
  const pid = running.get(question.id)?.pid;
  if (pid !== undefined) process.kill(-pid, 'SIGKILL');
});

answer({ id: 0, stream: 'stdout', text: 'ready' });
