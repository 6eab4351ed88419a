import type { Duplex } from 'node:stream';
import { inspect } from 'node:util';
import { onAbort } from '../base/abort.js';
import { errno } from '../base/errno.js';
import { closedError, VerbsError } from '../base/errors.js';
import { typeError } from '../base/validate.js';
import { signalOf, type WaitOptions } from '../base/wait-options.js';
import { messagePort, type MessagePortOptions, type SocketMessagePort } from './message-port.js';

// The protocol, over the values of a message port: each has one of these in front, and the number that its sender gave the call.
const CALL = 0; // name, arguments
const RESULT = 1; // value
const FAILURE = 2; // name, message, code of an error

type Message = [kind: number, id: unknown, ...rest: unknown[]];

/** What functions that a peer calls look like: what they take and return can be cloned. */
export type RemoteFunction = (...args: never[]) => unknown;

/** What a peer has whose types are not known. */
export type AnyFunctions = Record<string, (...args: unknown[]) => unknown>;

/** A function of the peer has failed: its `name`, `message` and `code` are those of the peer's error. */
export class CallError extends Error {
  /** The peer's `error.code`, if it is text. */
  readonly code: string | undefined;

  /** @internal */
  constructor(name: string, message: string, code: string | undefined) {
    super(message);
    this.name = name;
    this.code = code;
  }
}

/**
 * Calls to functions of another process over a socket, and calls of that process to functions here. Both ends make one; either
 * may have functions, or both. Arguments, results and the names of errors are cloned, as by {@link messagePort}.
 *
 * Calls are answered as they end, not in their order, and a peer may have any number of them at a time.
 *
 * @param socket of {@link connect}, {@link createServer} or {@link socketOver}; any other Duplex of bytes does as well
 * @param functions what the peer may call: the object's own functions, nothing that it inherits
 * @throws TypeError, RangeError for an argument, by its name
 * @example
 * import { callPort, connect, createServer } from '@verbs/core/stream';
 * const functions = { sum: (numbers: Float64Array) => numbers.reduce((a, b) => a + b, 0) };
 * createServer((socket) => callPort(socket, functions)).listen({ port: 18515 });
 *
 * await using peer = callPort<typeof functions>(connect({ port: 18515 }));
 * console.log(await peer.call('sum', [new Float64Array([1, 2, 3])]));
 */
export function callPort<Theirs extends Record<keyof Theirs, RemoteFunction> = AnyFunctions>(
  socket: Duplex,
  functions: Record<string, RemoteFunction> = {},
  options: MessagePortOptions = {},
): CallPort<Theirs> {
  return new CallPort(socket, functions, options);
}

/** One end of a connection over which functions are called. Made by {@link callPort}. */
export class CallPort<Theirs extends Record<keyof Theirs, RemoteFunction> = AnyFunctions> implements AsyncDisposable {
  /** Resolves when the connection has ended: with the error that broke it, or with undefined. */
  readonly ended: Promise<Error | undefined>;
  readonly #port: SocketMessagePort<Message>;
  readonly #functions: Map<string, RemoteFunction>;
  /** Calls that the peer has not answered. */
  readonly #waiting = new Map<unknown, { resolve: (value: unknown) => void; reject: (reason: unknown) => void }>();
  #next = 0;

  /** @internal */
  constructor(socket: Duplex, functions: Record<string, RemoteFunction>, options: MessagePortOptions) {
    if (typeof functions !== 'object' || (functions as object | null) === null)
      throw typeError('functions', 'an object of functions', functions);
    for (const [name, value] of Object.entries(functions)) {
      if (typeof value !== 'function') throw typeError(`functions.${name}`, 'a function', value);
    }
    this.#functions = new Map(Object.entries(functions));
    const port = messagePort<Message>(socket, options);
    this.#port = port;
    port.on('message', (message) => {
      this.#receive(message);
    });
    this.ended = new Promise((resolve) => {
      let failure: Error | undefined;
      port.once('error', (error) => {
        failure = error;
      });
      port.once('close', () => {
        this.#failAll(failure ?? closedError('CallPort', 'ibv_post_send'));
        resolve(failure);
      });
    });
  }

  /** True after `close()`, and when the peer has closed its side. */
  get closed(): boolean {
    return this.#port.closed;
  }

  /**
   * Calls a function of the peer, and resolves with what it returns.
   *
   * @param args may be changed afterwards: they are cloned now
   * @throws {@link CallError} if the function fails; VerbsError ERR_VERBS_CLOSED, or the one that broke the connection;
   *   `signal.reason`: the function runs on, and its answer is dropped; as `postMessage` for arguments
   */
  async call<Name extends keyof Theirs & string>(
    name: Name,
    args: Parameters<Theirs[Name]>,
    options?: WaitOptions,
  ): Promise<Awaited<ReturnType<Theirs[Name]>>> {
    if (typeof name !== 'string') throw typeError('name', 'the name of a function', name);
    if (!Array.isArray(args)) throw typeError('args', 'an array', args);
    const signal = signalOf(options);
    signal?.throwIfAborted();
    const id = this.#next++;
    this.#port.postMessage([CALL, id, name, args]);
    let ignore: (() => void) | undefined;
    try {
      const answer = await new Promise((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject });
        ignore =
          signal &&
          onAbort(signal, () => {
            // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- an AbortSignal's reason may be anything
            reject(signal.reason);
          });
      });
      return answer as Awaited<ReturnType<Theirs[Name]>>;
    } finally {
      this.#waiting.delete(id);
      ignore?.();
    }
  }

  /** Ends the connection: calls that wait are rejected, the peer's are not answered any more. */
  close(): void {
    this.#port.close();
    this.#failAll(closedError('CallPort', 'ibv_post_send'));
  }

  /** `await using` closes the port at the end of its block. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
    await this.#port[Symbol.asyncDispose]();
  }

  #failAll(reason: Error): void {
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
  }

  #receive(message: unknown): void {
    const [kind, id, first, second, third] = Array.isArray(message) ? (message as unknown[]) : [];
    if (kind === CALL && typeof first === 'string' && Array.isArray(second)) {
      // Not even the failure fits into a message that the peer takes.
      this.#answer(id, first, second as never[]).catch((error: unknown) => {
        this.#port.destroy(error as Error);
      });
    } else if (kind === RESULT) {
      this.#waiting.get(id)?.resolve(first);
    } else if (kind === FAILURE && typeof first === 'string' && typeof second === 'string') {
      this.#waiting.get(id)?.reject(new CallError(first, second, text(third)));
    } else {
      const what = {
        text: 'the peer sends values that are no calls',
        hint: 'both ends need callPort() of @verbs/core/stream',
      };
      this.#port.destroy(new VerbsError(errno.EPROTO, 'ibv_poll_cq', what));
    }
  }

  async #answer(id: unknown, called: string, args: never[]): Promise<void> {
    try {
      const call = this.#functions.get(called);
      if (call === undefined) throw new TypeError(`the peer has no function ${inspect(called)}`);
      this.#reply([RESULT, id, await call(...args)]);
    } catch (reason) {
      const { name, message, code }: { name: unknown; message: unknown; code?: unknown } =
        reason instanceof Error ? reason : new Error(inspect(reason));
      this.#reply([FAILURE, id, text(name) ?? 'Error', text(message) ?? '', text(code)]);
    }
  }

  #reply(message: Message): void {
    if (!this.#port.closed) this.#port.postMessage(message);
  }
}

const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
