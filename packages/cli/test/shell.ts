import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERBS } from './verbs.js';

/** Readline and zsh: to the beginning of the line. */
const HOME = '\x01';
const PROMPT = 'ready> ';
const TIMEOUT = 20_000;
/** What the completed line prints, which is no command's own: each word in angle brackets. */
const WORDS = /\r?\n(<verbs>[\s\S]*)/;

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

/** An interactive shell on a terminal of its own, into which lines are typed one after the other. */
export class Terminal implements AsyncDisposable {
  readonly #shell: Shell;
  readonly #child: ReturnType<typeof spawn>;
  readonly #ended: Promise<void>;
  #seen = '';
  #wake: (() => void) | undefined;

  constructor(shell: Shell, env: NodeJS.ProcessEnv, cwd: string) {
    this.#shell = shell;
    // script(1) gives it a terminal.
    this.#child = spawn('script', ['-qefc', shell.command, '/dev/null'], { cwd, env: { ...env, PS1: PROMPT } });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#seen += text;
      this.#wake?.();
    });
    this.#ended = new Promise<void>((resolve) => this.#child.once('close', resolve));
  }

  async setup(): Promise<void> {
    await this.#until((seen) => seen.includes(PROMPT));
    this.#type(this.#shell.setup);
    await this.#until((seen) => seen.includes(PROMPT));
  }

  /** Completes the last word of a line, and returns the words that it then has: with `printf` in front, it does nothing else. */
  async complete(line: string): Promise<string[]> {
    this.#type(`${line}${this.#shell.keys}${HOME}printf '<%s>\\n' `);
    await this.#until((seen) => WORDS.exec(seen)?.[1]?.includes(PROMPT) === true);
    const [, words = ''] = WORDS.exec(this.#seen) ?? [];
    return [...words.matchAll(/^<(.*)>\r?$/gm)].map(([, word = '']) => word);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  #type(line: string): void {
    this.#seen = '';
    this.#child.stdin?.write(`${line}\r`);
  }

  async #until(holds: (seen: string) => boolean): Promise<void> {
    const late = setTimeout(() => this.#child.kill('SIGKILL'), TIMEOUT);
    try {
      while (!holds(this.#seen)) {
        if (this.#child.exitCode !== null || this.#child.signalCode !== null)
          throw new Error(`the shell ended early: ${this.#seen}`);
        await Promise.race([this.#ended, new Promise<void>((resolve) => (this.#wake = resolve))]);
      }
    } finally {
      clearTimeout(late);
    }
  }
}
