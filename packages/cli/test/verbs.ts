import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const VERBS = fileURLToPath(new URL('../bin/verbs.mjs', import.meta.url));

export interface Outcome {
  status: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A command under test: the real one, in a process of its own. */
export class Verbs {
  readonly process: ChildProcess;
  stdout = '';
  stderr = '';
  readonly #closed: Promise<Outcome>;
  #watchers: (() => void)[] = [];

  /** With 'pipe' the test writes its input: `process.stdin`. */
  constructor(args: readonly string[], env: NodeJS.ProcessEnv = {}, stdin: 'ignore' | 'pipe' = 'ignore') {
    this.process = spawn(process.execPath, [VERBS, ...args], {
      env: { ...process.env, NO_COLOR: '1', ...env },
      stdio: [stdin, 'pipe', 'pipe'],
    });
    this.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
      this.#notify();
    });
    this.process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
      this.#notify();
    });
    this.#closed = new Promise((resolve, reject) => {
      this.process.once('error', reject);
      this.process.once('close', (status, signal) => {
        this.#notify();
        resolve({ status, signal, stdout: this.stdout, stderr: this.stderr });
      });
    });
  }

  /** How it ended. */
  outcome(): Promise<Outcome> {
    return this.#closed;
  }

  /** Waits until the output matches. Rejects if the command ends before. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.stdout) ?? pattern.exec(this.stderr);
      if (match !== null) return match;
      if (this.process.exitCode !== null || this.process.signalCode !== null) {
        throw new Error(`verbs ended before it printed ${String(pattern)}: ${this.stdout}${this.stderr}`);
      }
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.process.kill(signal);
  }

  #notify(): void {
    const watchers = this.#watchers;
    this.#watchers = [];
    for (const watcher of watchers) watcher();
  }
}

export function verbs(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Outcome> {
  return new Verbs(args, env).outcome();
}
