import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const pathOf = (file: string): string => fileURLToPath(new URL(`../${file}`, import.meta.url));

/** A program in TypeScript runs as it is where Node.js can do that, else as it was compiled by the build. */
function fileOf(program: string): string {
  const source = pathOf(`${program}.ts`);
  if (!existsSync(source)) return pathOf(`${program}.mjs`);
  const { typescript } = process.features as { typescript?: string | false };
  return typescript === 'strip' ? source : pathOf(`dist/${program}.js`);
}

export interface Outcome {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** A program in a process of its own: one of the examples, or by its path one that is not for Node. */
export class Program {
  readonly process: ChildProcess;
  #stdout = '';
  #stderr = '';
  readonly #closed: Promise<Outcome>;
  #watchers: (() => void)[] = [];

  constructor(
    name: 'bin/demo' | 'bin/file-transfer' | `programs/${string}` | `/${string}`,
    args: readonly string[],
    options: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
  ) {
    const [command, ...first] = name.startsWith('/') ? [name] : [process.execPath, fileOf(name)];
    this.process = spawn(command, [...first, ...args], {
      env: { ...process.env, ...options.env },
      cwd: options.cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      this.#notify();
    });
    this.process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
      this.#notify();
    });
    this.#closed = new Promise((resolve, reject) => {
      this.process.once('error', reject);
      this.process.once('close', (status) => {
        this.#notify();
        resolve({ status, stdout: this.#stdout, stderr: this.#stderr });
      });
    });
  }

  outcome(): Promise<Outcome> {
    return this.#closed;
  }

  /** Waits until the output matches. Rejects if the program ends before. */
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

  #notify(): void {
    const watchers = this.#watchers;
    this.#watchers = [];
    for (const watcher of watchers) watcher();
  }
}
