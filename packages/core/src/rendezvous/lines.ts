import type { Socket } from 'node:net';
import { errno } from '../base/errno.js';
import { VerbsError } from '../base/errors.js';

/** Longer than any valid message. */
const MAX_LINE = 65536;

/** How long one message may take, and what ends the wait for it. */
export interface Patience {
  /** Milliseconds. */
  timeout: number;
  signal: AbortSignal | undefined;
}

/** Both ends of a TCP connection, as `node:net` has them. */
export interface Ends {
  localAddress: string | undefined;
  localPort: number | undefined;
  remoteAddress: string | undefined;
  remotePort: number | undefined;
}

/** A TCP connection that carries one JSON value a line. The peer is not trusted. */
export class Lines {
  /** Resolves when the connection has ended, whoever ended it. */
  readonly ended: Promise<void>;
  readonly #socket: Socket;
  readonly #where: Where;
  readonly #lines: string[] = [];
  #rest = '';
  #wake: (() => void) | undefined;
  #problem: VerbsError | undefined;

  /** `call`: the function of this module that talks. */
  constructor(socket: Socket, call: Where['call']) {
    this.#socket = socket;
    this.#where = { call, host: socket.remoteAddress, port: socket.remotePort };
    socket.setNoDelay(true).setKeepAlive(true, 10_000).setEncoding('utf8');
    socket.on('data', (text: string) => {
      this.#receive(text);
    });
    // 'close' follows.
    socket.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      socket.on('close', () => {
        this.#problem ??= this.problem('ECONNRESET', 'the peer has closed its TCP connection');
        this.#wake?.();
        resolve();
      });
    });
  }

  /** Whether the connection has ended. */
  get over(): boolean {
    return this.#problem !== undefined;
  }

  get remoteAddress(): string {
    return this.#socket.remoteAddress ?? '';
  }

  get ends(): Ends {
    const { localAddress, localPort, remoteAddress, remotePort } = this.#socket;
    return { localAddress, localPort, remoteAddress, remotePort };
  }

  /** An error of the exchange with this peer. */
  problem(code: ProblemCode, text: string, hint?: string): VerbsError {
    return problem(this.#where, code, text, hint);
  }

  /** The error for a peer that is no rendezvous. */
  foreign(): VerbsError {
    return this.problem('EPROTO', 'the peer speaks another protocol', 'is it a program with @verbs/core/rendezvous?');
  }

  ref(alive: boolean): void {
    if (alive) this.#socket.ref();
    else this.#socket.unref();
  }

  send(message: object): void {
    const line = JSON.stringify(message);
    if (line.length >= MAX_LINE) throw this.problem('EMSGSIZE', 'privateData is too long: at most 48 KiB of JSON');
    if (!this.#socket.destroyed) this.#socket.write(`${line}\n`);
  }

  /** The next message: an object. */
  async receive({ timeout, signal }: Patience): Promise<Record<string, unknown>> {
    const late = AbortSignal.timeout(timeout);
    const ends = signal === undefined ? late : AbortSignal.any([late, signal]);
    for (;;) {
      const line = this.#lines.shift();
      if (line !== undefined) return this.#parse(line);
      if (this.#problem !== undefined) throw this.#problem;
      signal?.throwIfAborted();
      if (late.aborted)
        throw this.problem(
          'ETIMEDOUT',
          `the peer said nothing for ${timeout} ms (the option timeout; connectTimeout of a socket)`,
        );
      await this.#next(ends);
    }
  }

  /** Closes in order: the peer still gets what was sent. */
  close(): void {
    this.#socket.end();
    // A peer that does not close its side would hold the process.
    this.#socket.unref();
    setTimeout(() => this.#socket.destroy(), 1000).unref();
  }

  #next(ends: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        ends.removeEventListener('abort', wake);
        resolve();
      };
      this.#wake = wake;
      if (ends.aborted) wake();
      else ends.addEventListener('abort', wake, { once: true });
    });
  }

  #receive(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    this.#lines.push(...lines);
    // A peer has at most three messages.
    if (this.#rest.length > MAX_LINE || this.#lines.length > 3 || lines.some(({ length }) => length > MAX_LINE)) {
      this.#lines.length = 0;
      this.#problem = this.foreign();
      this.#socket.destroy();
    }
    this.#wake?.();
  }

  #parse(line: string): Record<string, unknown> {
    try {
      const value: unknown = JSON.parse(line);
      if (isObject(value)) return value;
    } catch {
      // Reported below.
    }
    throw this.foreign();
  }
}

type ProblemCode = keyof typeof errno | 'REJECTED';

/** A function of this module, and whom it talks to. */
interface Where {
  call: 'dial' | 'accept';
  host: string | undefined;
  port: number | undefined;
}

/** An error of the rendezvous; `code` is its name in libibverbs' manner. */
export function problem({ call, host, port }: Where, code: ProblemCode, text: string, hint?: string): VerbsError {
  const number = code === 'REJECTED' ? errno.ECONNREFUSED : errno[code];
  const detail = host === undefined ? undefined : `${host} port ${port}`;
  return new VerbsError(number, call, { code, text, detail, hint });
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
