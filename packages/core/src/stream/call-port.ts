import type { Duplex } from 'node:stream';
import { inspect } from 'node:util';
import { onAbort } from '../base/abort.js';
import { errno } from '../base/errno.js';
import { closedError, VerbsError } from '../base/errors.js';
import { typeError, valueError } from '../base/validate.js';
import { signalOf, type WaitOptions } from '../base/wait-options.js';
import { messagePort, type MessagePortOptions, type SocketMessagePort } from './message-port.js';

// The protocol, over the values of a message port: each has one of these in front, and the number that its sender gave the call.
const CALL = 0; // name, arguments
const RESULT = 1; // value
const FAILURE = 2; // name, message, code of an error

/** A call of the peer that waits. */
interface Held {
  id: number;
  called: string;
  args: never[];
  /** Of its message. */
  bytes: number;
}

type Message = [kind: number, id: number, ...rest: unknown[]];

/** Arguments of a call. An array of the peer may say that it has four billion, and hold none. */
const MOST_ARGUMENTS = 65_535;

/** Bytes of calls that may wait, in their serialized form. Both sides would have to hold so many to wait for each other. */
const MOST_HELD = 2 ** 26;

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
 * Calls are answered as they end, not in their order, and a peer may have any number of them at a time. While it does not read the
 * answers, no further one is begun.
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
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (reason: unknown) => void }>();
  #next = 0;
  /** Calls without an answer, those included that nobody waits for any more. */
  #unanswered = 0;
  /** So many answers wait for the peer that no call is begun until 'drain'. */
  #full = false;
  /** The peer's calls that wait for that. */
  readonly #held: Held[] = [];
  #heldBytes = 0;

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
    port.on('message', this.#receive);
    const drained = () => {
      this.#drained();
    };
    port.on('drain', drained);
    // What arrived before is handed out, and then the end.
    port.socket.once('close', drained);
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
   * @param args at most 65535; may be changed afterwards: they are cloned now
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
    if (args.length > MOST_ARGUMENTS)
      throw valueError('args', `has ${args.length} elements; at most ${MOST_ARGUMENTS} are possible`);
    const signal = signalOf(options);
    signal?.throwIfAborted();
    const id = this.#next++;
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
        this.#port.post([CALL, id, name, args], (error) => {
          this.#unanswered--;
          reject(error);
        });
        this.#unanswered++;
        this.#flow();
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

  readonly #receive = (message: unknown): void => {
    const [kind, id, first, second, third] = Array.isArray(message) ? (message as unknown[]) : [];
    if (typeof id !== 'number') {
      this.#foreign();
    } else if (kind === CALL && typeof first === 'string' && isArguments(second)) {
      if (this.#full) this.#hold({ id, called: first, args: second, bytes: this.#port.handedBytes });
      else this.#begin(id, first, second);
    } else if (kind === RESULT) {
      this.#answered();
      this.#waiting.get(id)?.resolve(first);
    } else if (kind === FAILURE && typeof first === 'string' && typeof second === 'string') {
      this.#answered();
      this.#waiting.get(id)?.reject(new CallError(first, second, text(third)));
    } else {
      this.#foreign();
    }
  };

  #foreign(): void {
    const what = {
      text: 'the peer sends values that are no calls',
      hint: 'both ends need callPort() of @verbs/core/stream',
    };
    this.#port.destroy(new VerbsError(errno.EPROTO, 'ibv_poll_cq', what));
  }

  #begin(id: number, called: string, args: never[]): void {
    this.#answer(id, called, args).catch((error: unknown) => {
      // Not even the failure fits into a message that the peer takes.
      this.#port.destroy(error as Error);
    });
  }

  async #answer(id: number, called: string, args: never[]): Promise<void> {
    try {
      const call = this.#functions.get(called);
      if (call === undefined) throw new TypeError(`the peer has no function ${inspect(called)}`);
      const result = call(...args);
      // At once where it is there: before the peer's next call, which has to wait if the peer does not take this answer.
      this.#reply([RESULT, id, isThenable(result) ? await result : result]);
    } catch (reason) {
      this.#reply([FAILURE, id, ...outline(reason)]);
    }
  }

  #reply(message: Message): void {
    if (this.#port.closed || this.#port.postMessage(message)) return;
    this.#full = true;
    this.#flow();
  }

  #hold(call: Held): void {
    this.#held.push(call);
    this.#heldBytes += call.bytes;
    this.#flow();
  }

  /** The peer has taken the answers, or is gone. */
  #drained(): void {
    this.#full = false;
    const next = () => (this.#full ? undefined : this.#held.shift());
    for (let call = next(); call !== undefined; call = next()) {
      this.#heldBytes -= call.bytes;
      this.#begin(call.id, call.called, call.args);
    }
    this.#flow();
  }

  #answered(): void {
    if (this.#unanswered !== 0) this.#unanswered--;
    this.#flow();
  }

  /**
   * Takes the peer's messages, or does not while the peer takes none. Where this side waits for answers it takes them all the same,
   * until very many calls wait: else both sides might wait for each other.
   */
  #flow(): void {
    const takes = this.#port.listenerCount('message') !== 0;
    if (this.#full && (this.#unanswered === 0 || this.#heldBytes > MOST_HELD)) this.#port.off('message', this.#receive);
    else if (!takes) this.#port.on('message', this.#receive);
  }
}

const isArguments = (value: unknown): value is never[] => Array.isArray(value) && value.length <= MOST_ARGUMENTS;

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof (value as { then?: unknown } | null | undefined)?.then === 'function';

/** What the peer gets to know of an error: anything may be thrown, also what throws when it is read. */
function outline(reason: unknown): [name: string, message: string, code: string | undefined] {
  try {
    const { name, message, code }: { name: unknown; message: unknown; code?: unknown } =
      reason instanceof Error ? reason : new Error(inspect(reason));
    return [text(name) ?? 'Error', text(message) ?? '', text(code)];
  } catch {
    return ['Error', 'the function threw what cannot be read', undefined];
  }
}

const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
