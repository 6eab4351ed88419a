import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Failure } from '@verbs/lib/failure';

const programPath = (program: string) => fileURLToPath(new URL(`../bin/${program}.mjs`, import.meta.url));
/** Time from SIGTERM to SIGKILL. */
const PATIENCE_MS = 3000;

type Message<Report> = { listening: number | string } | { report: Report } | { error: string; hint?: string };

/** One side of a transfer: a program of the examples in a process of its own, with a software NIC of its own. */
export class Child<Report> {
  readonly #process: ChildProcess;
  readonly #name: string;
  readonly #messages: Message<Report>[] = [];
  readonly #exited: Promise<void>;
  #over = false;
  #wake: (() => void) | undefined;

  constructor(name: string, program: string, args: string[], configuration: string) {
    this.#name = name;
    this.#process = fork(programPath(program), args, {
      env: { ...process.env, VERBS_SOFT: configuration },
      // Standard error is shared for the progress bar. A child reports a failure by a message.
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#process.on('message', (message: Message<Report>) => {
      this.#messages.push(message);
      this.#wake?.();
    });
    this.#exited = new Promise((resolve) => {
      const over = () => {
        this.#over = true;
        this.#wake?.();
        resolve();
      };
      this.#process.once('close', over);
      this.#process.once('error', over);
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** The address of a waiting child: its TCP port, or the name of its service. */
  async listening(): Promise<number | string> {
    const message = await this.#next();
    if ('listening' in message) return message.listening;
    throw this.#unexpected();
  }

  async report(): Promise<Report> {
    const message = await this.#next();
    if (!('report' in message)) throw this.#unexpected();
    await this.#exited;
    return message.report;
  }

  /** Ends the process, if it has not ended. */
  async end(): Promise<void> {
    if (!this.#over) {
      this.#process.kill('SIGTERM');
      const timer = setTimeout(() => this.#process.kill('SIGKILL'), PATIENCE_MS);
      await this.#exited;
      clearTimeout(timer);
    }
  }

  async #next(): Promise<Message<Report>> {
    for (;;) {
      const message = this.#messages.shift();
      if (message !== undefined) {
        if ('error' in message)
          throw new Failure(`the ${this.#name} failed: ${message.error}`, { hint: message.hint ?? 'start again' });
        return message;
      }
      if (this.#over) throw this.#ended();
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #ended(): Failure {
    const { exitCode, signalCode } = this.#process;
    const how = signalCode === null ? `with status ${exitCode ?? 'unknown'}` : `by ${signalCode}`;
    return new Failure(`the ${this.#name} ended ${how} before it was done`, { hint: 'start again' });
  }

  #unexpected(): Failure {
    return new Failure(`the ${this.#name} sent an unexpected message`, { hint: 'build again: npm run setup' });
  }
}
