import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERBS } from './verbs.js';

/** Readline and zsh: to the beginning of the line. */
const HOME = '\x01';
const PROMPT = 'ready> ';
const TIMEOUT = 20_000;

/** A folder with a program `verbs`, for PATH. */
export function programFolder(folder: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'verbs'), `#!/bin/sh\nexec ${process.execPath} ${VERBS} "$@"\n`);
  chmodSync(join(bin, 'verbs'), 0o755);
  return bin;
}

export interface Shell {
  /** How it is started, for a terminal. */
  command: string;
  /** What it reads before the line: the completion among it. */
  setup: string;
  /** The keys that complete the word before the cursor. */
  keys: string;
}

/**
 * Types a line into an interactive shell on a terminal of its own, completes its last word, and returns the words that the line
 * then has: `printf` is put in front, so the line is not carried out.
 */
export async function completed(shell: Shell, line: string, env: NodeJS.ProcessEnv, cwd: string): Promise<string[]> {
  // script(1) gives it a terminal.
  const child = spawn('script', ['-qefc', shell.command, '/dev/null'], { cwd, env: { ...env, PS1: PROMPT } });
  let seen = '';
  let wake: (() => void) | undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen += text;
    wake?.();
  });
  const ended = new Promise<void>((resolve) => child.once('close', resolve));
  const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT);
  const prompts = (count: number) => until(() => seen.split(PROMPT).length > count);
  const until = async (holds: () => boolean) => {
    while (!holds()) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the shell ended early: ${seen}`);
      await Promise.race([ended, new Promise<void>((resolve) => (wake = resolve))]);
    }
  };
  try {
    await prompts(1);
    child.stdin.write(`${shell.setup}\r`);
    await prompts(2);
    child.stdin.write(`${line}${shell.keys}${HOME}printf '<%s>\\n' \r`);
    await until(() => seen.includes('\n<verbs>'));
    child.stdin.write('exit\r');
    await ended;
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
  const [, words = ''] = /\r?\n(<verbs>[\s\S]*)/.exec(seen) ?? [];
  return [...words.matchAll(/^<(.*)>\r?$/gm)].map(([, word = '']) => word);
}
