import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Ended } from './project.js';

/** A program that runs, and what it has printed so far. */
export class Running {
  readonly process: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ended>;
  #stdout = '';
  #stderr = '';
  #watchers: (() => void)[] = [];

  constructor(process: ChildProcessWithoutNullStreams) {
    this.process = process;
    process.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      this.#notify();
    });
    process.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
      this.#notify();
    });
    // A program that has ended takes no input.
    process.stdin.on('error', () => undefined);
    this.ended = new Promise((resolve, reject) => {
      process.once('error', reject);
      process.once('close', (code) => {
        this.#notify();
        resolve({ code, stdout: this.#stdout, stderr: this.#stderr });
      });
    });
  }

  /** Waits until what it printed matches. Rejects if it ends before. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.#stdout) ?? pattern.exec(this.#stderr);
      if (match !== null) return match;
      if (this.process.exitCode !== null || this.process.signalCode !== null) {
        throw new Error(`the program ended before it printed ${String(pattern)}: ${this.#stdout}${this.#stderr}`);
      }
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  /** Ends the program, and waits for that. */
  async kill(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    this.process.kill(signal);
    return this.ended;
  }

  #notify(): void {
    const watchers = this.#watchers;
    this.#watchers = [];
    for (const watcher of watchers) watcher();
  }
}
