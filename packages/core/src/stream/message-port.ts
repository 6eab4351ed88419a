import { EventEmitter } from 'node:events';
import { Duplex } from 'node:stream';
import { types } from 'node:util';
import v8 from 'node:v8';
import { errno } from '../base/errno.js';
import { closedError, VerbsError } from '../base/errors.js';
import { fields, or, range } from '../base/fields.js';
import { rangeError, typeError, valueError } from '../base/validate.js';
import { checkArrayLengths } from './array-lengths.js';
import { uncaught } from '../base/handled.js';

// The protocol, over the bytes of a socket: 8 bytes that say what follows, and 4 with the longest message that this side takes.
// Then messages, each behind its length in 4 bytes; numbers in network order.
const MAGIC = Buffer.from('verbsmp1', 'latin1');
const HELLO_BYTES = MAGIC.byteLength + 4;
const LENGTH_BYTES = 4;
const LARGEST = 2 ** 31 - 1;

/** The options of {@link messagePort}. */
export interface MessagePortOptions {
  /**
   * The longest message of the peer, in bytes of its serialized form: 1 to 2147483647, default 67108864. The peer learns it, and
   * refuses longer ones itself.
   */
  maxBytes?: number;
}

/** The events of a {@link SocketMessagePort}. */
export interface MessagePortEvents<Received> {
  /** A value of the peer: a clone of its own. */
  message: [value: Received];
  /**
   * Bytes of the peer that are no value; or a value that is longer than `maxBytes` of the peer, and was posted before the peer
   * had told that. Without a listener the port ends with this error; the peer still gets what was posted before.
   */
  messageerror: [error: Error];
  /** The program may post again, after a `postMessage` that returned false. */
  drain: [];
  /** The connection broke. Not emitted where an iteration throws the error. */
  error: [error: Error];
  /** No message follows. */
  close: [];
}

/** A port takes all bytes of its socket. */
const withPort = new WeakSet<Duplex>();

/** A value that is to be sent, and what to do if it is too long. */
interface Early {
  message: Buffer;
  refused: ((error: Error) => void) | undefined;
}

const portOptions = fields({ maxBytes: or(range(1, LARGEST), 2 ** 26) });

/**
 * JavaScript values in both directions over a socket: `postMessage` and 'message', in the form of the ports of
 * `node:worker_threads`. Both ends make one. A value is cloned by `v8.serialize`, and may have any size up to `maxBytes`
 * of the peer: objects, arrays, maps, sets, dates, bigints, errors, typed arrays, cycles; no functions, no classes.
 *
 * Everything is copied, typed arrays too: nothing can be transferred, nor shared, with another process. A typed array
 * arrives with its own bytes only, not with the rest of its buffer, and a resizable ArrayBuffer as one of its length.
 *
 * @param socket of {@link connect}, {@link createServer} or {@link socketOver}; any other Duplex of bytes does as well. It belongs to
 *   the port
 * @throws TypeError, RangeError for an argument, by its name
 * @example
 * import { connect, createServer, messagePort } from '@verbs/core/stream';
 * createServer((socket) => {
 *   const port = messagePort(socket);
 *   port.on('message', (value) => {
 *     port.postMessage({ got: value });
 *   });
 * }).listen({ port: 18515 });
 *
 * const port = messagePort(connect({ port: 18515 }));
 * port.postMessage({ when: new Date(), data: new Float64Array(1000) });
 * for await (const answer of port) console.log(answer);
 */
export function messagePort<Sent = unknown, Received = unknown>(
  socket: Duplex,
  options: MessagePortOptions = {},
): SocketMessagePort<Sent, Received> {
  return new SocketMessagePort(socket, options);
}

/** One end of a connection that carries JavaScript values. Made by {@link messagePort}. */
export class SocketMessagePort<Sent = unknown, Received = unknown>
  extends EventEmitter<MessagePortEvents<Received>>
  implements AsyncIterable<Received>, AsyncDisposable
{
  /** What carries the messages. */
  readonly socket: Duplex;
  readonly #maxBytes: number;
  readonly #bytes = new Bytes();
  /** The longest message that the peer takes; undefined until it has said so. */
  #peerMaxBytes: number | undefined;
  /** Messages of before that. */
  readonly #early: Early[] = [];
  /** Iterations that wait for a message. */
  readonly #waiting: {
    resolve: (result: IteratorResult<Received, undefined>) => void;
    reject: (error: Error) => void;
  }[] = [];
  #iterated = false;
  #delivering = false;
  /** There is a message that nobody takes yet. */
  #paused = false;
  /** The program has ended the port. */
  #closing = false;
  /** The socket is closed. */
  #ended = false;
  /** 'close' was emitted. */
  #finished = false;
  /** @internal Bytes of the message that was handed out last. */
  handedBytes = 0;
  #failure: Error | undefined;

  /** @internal */
  constructor(socket: Duplex, options: MessagePortOptions) {
    super();
    if (!(socket instanceof Duplex)) throw typeError('socket', 'a Socket, or another Duplex of bytes', socket);
    this.#maxBytes = portOptions(options, 'options').maxBytes;
    if (withPort.has(socket))
      throw valueError('socket', 'has a port already, which takes all its bytes: make one port of it');
    withPort.add(socket);
    this.socket = socket;
    const hello = Buffer.alloc(HELLO_BYTES);
    MAGIC.copy(hello);
    hello.writeUInt32BE(this.#maxBytes, MAGIC.byteLength);
    socket.write(hello);
    socket.on('data', (chunk: Buffer) => {
      this.#bytes.push(chunk);
      this.#deliver();
    });
    socket.on('drain', () => {
      this.#tell('drain');
    });
    socket.on('error', (error) => {
      this.#failure ??= error;
    });
    const over = () => {
      this.#ended = true;
      this.#deliver();
    };
    socket.on('close', over);
    // With the peer's side the port ends, also over a socket that may be half open.
    const ended = () => {
      if (this.#early.length !== 0) this.#failure ??= noPort('the peer has ended, and is no message port');
      socket.end();
    };
    if (socket.readableEnded) setImmediate(ended);
    else socket.once('end', ended);
    if (socket.closed) {
      // Its events may be over.
      this.#failure = socket.errored ?? undefined;
      setImmediate(over);
    }
    // As of the ports of node:worker_threads, the first listener starts it.
    (this as unknown as EventEmitter).on('newListener', (name: string | symbol) => {
      if (name !== 'message') return;
      setImmediate(() => {
        this.#deliver();
      });
    });
  }

  /** True after `close()`, and when the peer has closed its side. */
  get closed(): boolean {
    return this.#closing || !this.socket.writable;
  }

  /**
   * Sends a value. It is cloned now: the program may change it afterwards.
   *
   * @returns false when so much waits for the peer that the program should wait for 'drain'
   * @throws Error that names a value that cannot be cloned; RangeError for one that is longer than `maxBytes` of the peer (before
   *   the peer has told that, it is the event 'messageerror'); VerbsError ERR_VERBS_CLOSED
   * @example
   * import { once } from 'node:events';
   * import { connect, messagePort } from '@verbs/core/stream';
   * const port = messagePort(connect({ port: 18515 }));
   * for (let i = 0; i < 1000; i++) if (!port.postMessage(new Uint8Array(1e6))) await once(port, 'drain');
   */
  postMessage(value: Sent): boolean {
    return this.post(value);
  }

  /** @internal `refused` is called instead of 'messageerror'. */
  post(value: Sent, refused?: (error: Error) => void): boolean {
    this.#checkOpen();
    const message = v8.serialize(value);
    // A getter of the value may have closed the port.
    this.#checkOpen();
    if (this.#peerMaxBytes !== undefined) return this.#send(message, this.#peerMaxBytes);
    this.#early.push({ message, refused });
    return false;
  }

  /** The messages of the peer, until it closes the port. `break` leaves it open. A broken connection throws. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Received, void, undefined> {
    this.#iterated = true;
    for (;;) {
      const { done, value } = await this.#next();
      if (done === true) return;
      yield value;
    }
  }

  /**
   * Ends the port: the peer still gets what was posted. Its own messages are dropped. A peer that does not say within 10 seconds
   * that it is a message port gets nothing of what was posted, and the port ends with an error.
   */
  close(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#endSoon();
    if (this.#early.length === 0) {
      this.#end();
      return;
    }
    const late = setTimeout(() => {
      if (this.#early.length !== 0) this.socket.destroy(noPort('the peer has not said that it is a message port'));
    }, LONGEST_GREETING);
    this.socket.once('close', () => {
      clearTimeout(late);
    });
  }

  /** The socket may be closed already, and a message of before that have kept the port open. */
  #endSoon(): void {
    setImmediate(() => {
      this.#deliver();
    });
  }

  /** Ends the port at once. The error is emitted, or thrown by the iteration. */
  destroy(error?: Error): void {
    this.#closing = true;
    this.#endSoon();
    this.socket.destroy(error);
  }

  /** The open port keeps the process alive: the state of a new one. */
  ref(): this {
    (this.socket as { ref?: () => void }).ref?.();
    return this;
  }

  /** The open port does not keep the process alive. */
  unref(): this {
    (this.socket as { unref?: () => void }).unref?.();
    return this;
  }

  /** `await using` closes the port at the end of its block. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      if (this.socket.closed) resolve();
      else this.socket.once('close', resolve);
    });
    this.close();
    await closed;
  }

  #checkOpen(): void {
    if (this.closed) throw closedError('SocketMessagePort', 'ibv_post_send');
  }

  #send(message: Buffer, max: number): boolean {
    if (message.byteLength > max)
      throw rangeError(
        'value',
        `at most ${max} bytes in its serialized form, \`maxBytes\` of the peer`,
        message.byteLength,
      );
    const length = Buffer.allocUnsafe(LENGTH_BYTES);
    length.writeUInt32BE(message.byteLength);
    this.socket.cork();
    this.socket.write(length);
    const more = this.socket.write(message);
    this.socket.uncork();
    return more;
  }

  #end(): void {
    this.socket.end();
    // What comes now is nobody's, and the end of the peer is behind it.
    this.socket.resume();
  }

  #next(): Promise<IteratorResult<Received, undefined>> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#deliver();
    });
  }

  /** Hands out what has arrived as long as somebody takes it, and then the end. */
  #deliver(): void {
    // A listener may ask for more: this loop goes on with it.
    if (this.#delivering) return;
    this.#delivering = true;
    try {
      for (let message = this.#message(); message !== undefined; message = this.#message()) this.#hand(message);
    } catch (error) {
      this.destroy(error as Error);
    } finally {
      this.#delivering = false;
    }
    if (this.#ended) this.#finish();
    else if (this.#paused) this.socket.pause();
    else this.socket.resume();
  }

  /** Whether the peer has said what it is, and what it takes. */
  #greeted(): boolean {
    const hello = this.#bytes.take(HELLO_BYTES);
    if (hello === undefined) return false;
    if (!hello.subarray(0, MAGIC.byteLength).equals(MAGIC)) {
      throw noPort('the peer is no message port');
    }
    const max = hello.readUInt32BE(MAGIC.byteLength);
    const waits = this.#early.length !== 0;
    const sent = this.#sendEarly(max);
    this.#peerMaxBytes = max;
    // What listeners for errors have posted meanwhile is behind what was there.
    const more = this.#sendEarly(max) && sent;
    if (this.#closing) this.#end();
    else if (waits && more) this.#tell('drain');
    return true;
  }

  /** Sends the messages that wait now. Whether the program may post more. */
  #sendEarly(max: number): boolean {
    const early = this.#early;
    let more = true;
    for (let rest = early.length; rest > 0; rest--) {
      const next = early.shift();
      if (next === undefined) break;
      try {
        more = this.#send(next.message, max);
      } catch (error) {
        if (next.refused !== undefined) next.refused(error as Error);
        else if (this.listenerCount('messageerror') !== 0) this.#tell('messageerror', error);
        else {
          this.#failure = error as Error;
          this.#closing = true;
          early.length = 0;
        }
      }
    }
    return more;
  }

  /** The next message, if it is there and somebody takes it. */
  #message(): Buffer | undefined {
    this.#paused = false;
    if (this.#peerMaxBytes === undefined && !this.#greeted()) return undefined;
    if (this.#closing) this.#bytes.clear();
    const length = this.#bytes.peek(LENGTH_BYTES)?.readUInt32BE();
    if (length === undefined) return undefined;
    if (length > this.#maxBytes) {
      throw new VerbsError(errno.EMSGSIZE, 'ibv_poll_cq', {
        text: `the peer sends a message of ${length} bytes, and this side takes at most ${this.#maxBytes}`,
        hint: 'the option maxBytes of messagePort() and callPort()',
      });
    }
    this.#paused = this.#waiting.length === 0 && this.listenerCount('message') === 0;
    if (this.#paused) return undefined;
    return this.#bytes.take(LENGTH_BYTES + length)?.subarray(LENGTH_BYTES);
  }

  #hand(message: Buffer): void {
    this.handedBytes = message.byteLength;
    let value: Received;
    try {
      checkArrayLengths(message);
      value = new ValueReader(message).value() as Received;
    } catch (error) {
      if (this.listenerCount('messageerror') === 0) throw error;
      this.#tell('messageerror', error);
      return;
    }
    const next = this.#waiting.shift();
    if (next !== undefined) next.resolve({ done: false, value });
    else this.#tell('message', value);
  }

  /** An error of a listener is none of the port's, and the other messages come all the same. */
  #tell(name: 'message' | 'messageerror' | 'drain', ...value: unknown[]): void {
    try {
      (this.emit as (name: string, ...value: unknown[]) => boolean).call(this, name, ...value);
    } catch (error) {
      uncaught(error);
    }
  }

  /** All that had arrived is handed out. */
  #finish(): void {
    if (this.#paused) return;
    this.#closing = true;
    const failure = this.#failure;
    const [first, ...others] = this.#waiting.splice(0);
    // An iteration that is busy with a message throws it when it asks for the next one.
    if (first !== undefined || !this.#iterated) this.#failure = undefined;
    if (failure !== undefined) first?.reject(failure);
    else first?.resolve({ done: true, value: undefined });
    for (const { resolve } of others) resolve({ done: true, value: undefined });
    if (this.#finished) return;
    this.#finished = true;
    if (failure !== undefined && !this.#iterated) this.emit('error', failure);
    this.emit('close');
  }
}

/** Milliseconds in which a peer that is a message port says so, also a busy one. */
const LONGEST_GREETING = 10_000;

function noPort(text: string): VerbsError {
  const hint = 'both ends need messagePort(), or both callPort(), of @verbs/core/stream';
  return new VerbsError(errno.EPROTO, 'ibv_poll_cq', { text, hint });
}

/** A chunk is short below so many bytes, and so many of them in a row are put together. */
const SHORT = 1024;
const MOST_SHORT = 1024;

/** Chunks of a stream, and so many bytes of them at a time. They are put together when all are there. */
class Bytes {
  #chunks: Buffer[] = [];
  #length = 0;
  /** Short chunks at the end. */
  #short = 0;

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.byteLength;
    // A peer may send byte by byte, and a chunk takes more than 100 bytes of the heap.
    this.#short = chunk.byteLength < SHORT ? this.#short + 1 : 0;
    if (this.#short < MOST_SHORT) return;
    this.#chunks.push(Buffer.concat(this.#chunks.splice(-MOST_SHORT)));
    this.#short = 0;
  }

  peek(count: number): Buffer | undefined {
    if (this.#length < count) return undefined;
    const [first] = this.#chunks;
    if (first !== undefined && first.byteLength >= count) return first.subarray(0, count);
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all.subarray(0, count);
  }

  take(count: number): Buffer | undefined {
    const bytes = this.peek(count);
    if (bytes === undefined) return undefined;
    this.#length -= count;
    const [first] = this.#chunks;
    if (first === undefined || first.byteLength === count) this.#chunks.shift();
    else this.#chunks[0] = first.subarray(count);
    return bytes;
  }

  clear(): void {
    this.#chunks = [];
    this.#length = 0;
  }
}

interface HostObjects {
  /** Node's own, which makes a view of the bytes that were received. */
  _readHostObject(): NodeJS.ArrayBufferView;
}

/** A typed array gets a buffer of its own, as structuredClone gives it one. */
class ValueReader extends v8.DefaultDeserializer {
  value(): unknown {
    this.readHeader();
    return this.readValue();
  }

  _readHostObject(): unknown {
    const view = (v8.DefaultDeserializer.prototype as unknown as HostObjects)._readHostObject.call(this);
    // Not `view.slice()`, which of a Buffer is no copy.
    if (types.isTypedArray(view)) return Uint8Array.prototype.slice.call(view);
    const { buffer, byteOffset, byteLength } = view;
    return new DataView(buffer.slice(byteOffset, byteOffset + byteLength));
  }
}
