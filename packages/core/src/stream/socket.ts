import type { AddressInfo } from 'node:net';
import { addAbortSignal, Duplex } from 'node:stream';
import { types } from 'node:util';
import { unlessAborted } from '../base/abort.js';
import { rangeError, typeError, valueError } from '../base/validate.js';
import type { QueuePair } from '../qp/queue-pair.js';
import { type Announcement, announce, announced } from './announcement.js';
import { BytePipe, sendRequests } from './pipe.js';

/** How long a socket that was destroyed waits until the peer has what was written, in milliseconds. */
const LINGER = 2000;
const DEFAULT_PROBE = 10_000;
/** A longer timer of Node.js expires at once. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;
/** That of Node.js since version 22. */
const READ_MARK = 65_536;
/** A program that writes chunks of the usual 64 KiB has one behind the one that waits for room. */
const WRITE_MARK = 131_072;

/**
 * What a socket needs of the connection that it goes over: `Connection` of `@verbs/core/rendezvous` has it, and one of
 * `@verbs/rdmacm` in a few lines.
 */
export interface SocketConnection {
  /**
   * The queue pair: RC, in RTS, with completion queues that serve it alone. Its rights have `AccessFlags.REMOTE_WRITE`, for the write of
   * 0 bytes of the peer's {@link Socket.setKeepAlive}.
   */
  qp: QueuePair;
  /** Resolves when the peer has closed the connection, or is gone. */
  disconnected: Promise<void>;
  /** Closes the queue pair and what was made for it. */
  close(): void;
  /** The ends, as far as the connection knows them. */
  localAddress?: string | undefined;
  /** A port number. */
  localPort?: number | undefined;
  /** The peer's. */
  remoteAddress?: string | undefined;
  /** A port number. */
  remotePort?: number | undefined;
  /** Whether the process stays alive for what the connection waits for. */
  ref?(): void;
  /** The opposite. */
  unref?(): void;
}

/** How a socket gets its connection. */
export interface SocketStart {
  /** Its buffers. */
  buffers: Announcement;
  /** Connects: the queue pair is prepared by `end.prepare` in INIT; the peer gets `end.announcement`. */
  connect: (end: SocketEnd, signal: AbortSignal) => Promise<{ connection: SocketConnection; peer: unknown }>;
  /** See {@link SocketOptions.allowHalfOpen}. */
  allowHalfOpen?: boolean | undefined;
  /** Destroys the socket when it is aborted. */
  signal?: AbortSignal | undefined;
}

/** One end of a socket before its connection. */
export class SocketEnd {
  /** What the peer must get before the connection: text, as the private data of either rendezvous. */
  readonly announcement: string;
  /** The queue pair's least capacities. */
  readonly cap: {
    /** Send requests. */
    maxSendWr: number;
    /** Receive requests. */
    maxRecvWr: number;
  };
  /** @internal */
  readonly pipe: BytePipe;

  /** @internal */
  constructor(buffers: Announcement) {
    this.announcement = announce(buffers);
    this.cap = { maxSendWr: sendRequests(buffers.slots), maxRecvWr: buffers.slots };
    this.pipe = new BytePipe(buffers);
  }

  /** Posts the receive requests of the queue pair, in INIT. */
  readonly prepare = (qp: QueuePair): void => {
    this.pipe.prepare(qp);
  };
}

/**
 * A connection as a stream of bytes, in the form of a socket of `node:net`: a `Duplex` with its events and its half close,
 * over an RC queue pair. Made by {@link connect}, {@link createServer} and {@link socketOver}.
 *
 * A writer is slowed down by a reader that is slow, by credits; bytes are copied once on each side, and cross the wire in
 * messages of up to `size` bytes. A peer that is killed is an error ECONNRESET. 'close' has an argument: whether there was
 * an error.
 *
 * @example
 * import { connect } from '@verbs/core/stream';
 * const socket = connect({ port: 18515 });
 * socket.end('hello');
 * for await (const chunk of socket) process.stdout.write(chunk);
 */
export class Socket extends Duplex {
  /** Until 'connect'. */
  connecting = true;
  /** Bytes that were received. */
  bytesRead = 0;
  /** Bytes that the pipe has taken: those that wait for that are still in the stream. */
  #sent = 0;
  readonly #start: SocketStart;
  readonly #end: SocketEnd;
  readonly #abort = new AbortController();
  #connection: SocketConnection | undefined;
  #timeout = 0;
  #timer: NodeJS.Timeout | undefined;
  #probe: NodeJS.Timeout | undefined;
  #probeEvery = DEFAULT_PROBE;
  #quiet = false;
  /** By `resetAndDestroy()`. */
  #reset = false;
  /** 'connect' was emitted; or the peer has ended before. */
  #announced = false;
  #endsEarly = false;

  /** @internal */
  constructor(start: SocketStart) {
    const { signal, allowHalfOpen = false } = start;
    super({
      allowHalfOpen,
      decodeStrings: true,
      // By _destroy(), with its argument.
      emitClose: false,
      readableHighWaterMark: READ_MARK,
      writableHighWaterMark: WRITE_MARK,
    });
    this.#start = start;
    this.#end = new SocketEnd(start.buffers);
    // Not by the constructor of Duplex, which would destroy what is not there yet if the signal is aborted already.
    if (signal !== undefined) addAbortSignal(signal, this);
  }

  /** This end's IP address, as far as the connection knows it. */
  get localAddress(): string | undefined {
    return this.#connection?.localAddress;
  }

  /** This end's port. */
  get localPort(): number | undefined {
    return this.#connection?.localPort;
  }

  /** 'IPv4' or 'IPv6'. */
  get localFamily(): string | undefined {
    return familyOf(this.localAddress);
  }

  /** The peer's IP address. */
  get remoteAddress(): string | undefined {
    return this.#connection?.remoteAddress;
  }

  /** The peer's port. */
  get remotePort(): number | undefined {
    return this.#connection?.remotePort;
  }

  /** 'IPv4' or 'IPv6'. */
  get remoteFamily(): string | undefined {
    return familyOf(this.remoteAddress);
  }

  /** Bytes that were written, also those that wait for the peer. */
  get bytesWritten(): number {
    return this.#sent + this.writableLength;
  }

  /** As `connecting`. */
  get pending(): boolean {
    return this.connecting;
  }

  /** As in `node:net`: 'opening', 'open', 'readOnly', 'writeOnly' or 'closed'. */
  get readyState(): string {
    if (this.connecting) return 'opening';
    if (this.readable && this.writable) return 'open';
    if (this.readable) return 'readOnly';
    return this.writable ? 'writeOnly' : 'closed';
  }

  /** Milliseconds of `setTimeout`; 0 for none. */
  get timeout(): number {
    return this.#timeout;
  }

  /** The queue pair behind the socket, while it is connected. */
  get qp(): QueuePair | undefined {
    return this.#connection?.qp;
  }

  /** This end, as `net.Socket.address()`. */
  address(): Partial<AddressInfo> {
    const { localAddress: address, localFamily: family, localPort: port } = this;
    return {
      ...(address !== undefined && { address }),
      ...(family !== undefined && { family }),
      ...(port !== undefined && { port }),
    };
  }

  /**
   * The event 'timeout' comes when nothing was sent or received for so many milliseconds; 0 ends that. The socket stays open.
   *
   * @param milliseconds 0 to 2147483647
   * @throws TypeError, RangeError for an argument, by its name
   */
  setTimeout(milliseconds: number, listener?: () => void): this {
    const wanted = `a number from 0 to ${LONGEST_TIMEOUT}`;
    if (typeof milliseconds !== 'number') throw typeError('milliseconds', wanted, milliseconds);
    if (!(milliseconds >= 0 && milliseconds <= LONGEST_TIMEOUT)) throw rangeError('milliseconds', wanted, milliseconds);
    if (listener !== undefined && typeof (listener as unknown) !== 'function')
      throw typeError('listener', 'a function', listener);
    this.#timeout = milliseconds;
    if (listener !== undefined) {
      if (milliseconds === 0) this.off('timeout', listener);
      else this.once('timeout', listener);
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#active();
    return this;
  }

  /**
   * Whether the peer is asked for a sign of life after so many milliseconds without one, by a write of 0 bytes. On from the
   * start, with 10000. At most 2147483647.
   */
  setKeepAlive(enable = false, delay = 0): this {
    this.#probeEvery = enable ? (delay > 0 ? Math.min(delay, LONGEST_TIMEOUT) : DEFAULT_PROBE) : 0;
    this.#keepAlive();
    return this;
  }

  /** Changes nothing: bytes leave at the end of the turn of the event loop in which they were written. */
  setNoDelay(): this {
    return this;
  }

  /** The open socket keeps the process alive: the state of a new one. */
  ref(): this {
    return this.#setQuiet(false);
  }

  /** The open socket does not keep the process alive. */
  unref(): this {
    return this.#setQuiet(true);
  }

  /** Destroys the socket when all is written. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', this.destroy.bind(this));
  }

  /** Ends the connection at once: the peer has an error ECONNRESET. This side has none, as of `net.Socket`. */
  resetAndDestroy(): this {
    this.#reset = true;
    return this.destroy();
  }

  /** @internal */
  override destroy(error?: Error): this {
    if (this.connecting) {
      this.connecting = false;
      this.#abort.abort(error);
    }
    return super.destroy(error);
  }

  /** @internal */
  override _construct(callback: (error?: Error | null) => void): void {
    this.#connect().then(
      () => {
        callback();
        // The stream takes writes and reads from the next tick on, and an exception of a listener is an uncaught one there.
        process.nextTick(() => {
          if (this.destroyed) return;
          this.#announced = true;
          try {
            this.emit('connect');
            this.emit('ready');
          } finally {
            if (this.#endsEarly) this.read(0);
          }
        });
      },
      (error: unknown) => {
        this.connecting = false;
        // The program destroyed the socket: that says what there is to say.
        callback(this.#abort.signal.aborted ? null : (error as Error));
      },
    );
  }

  async #connect(): Promise<void> {
    const { signal } = this.#abort;
    const making: Promise<unknown> = Promise.resolve(this.#start.connect(this.#end, signal));
    // Who connects may not look at the signal: what comes later is nobody's.
    making.then(
      (late) => {
        if (signal.aborted) (late as { connection?: Partial<SocketConnection> } | undefined)?.connection?.close?.();
      },
      () => undefined,
    );
    const made = await unlessAborted(making, signal);
    const { connection, peer } = (made ?? {}) as { connection?: Partial<SocketConnection>; peer?: unknown };
    if (typeof connection?.close !== 'function')
      throw typeError('what options.connect resolves with', 'an object with connection and peer', made);
    try {
      this.#opened(connection as SocketConnection, announced(peer));
    } catch (error) {
      this.#connection = undefined;
      connection.close();
      throw error;
    }
  }

  #opened(connection: SocketConnection, peer: Announcement): void {
    this.#connection = connection;
    this.connecting = false;
    this.#end.pipe.open(peer, {
      data: (bytes) => {
        this.bytesRead += bytes.byteLength;
        this.#active();
        return this.push(bytes);
      },
      arrived: () => {
        this.#active();
      },
      end: () => {
        this.push(null);
        // Without a reader, 'end' comes all the same if nothing is left to be read. Who takes connections listens from 'connect' on.
        if (this.#announced) this.read(0);
        else this.#endsEarly = true;
      },
      failed: (error) => {
        this.destroy(error);
      },
      lost: () => {
        this.destroy();
      },
    });
    const gone = () => {
      // What arrived before counts: the notice and the last completions come by different ways.
      setImmediate(() => {
        this.#end.pipe.peerGone();
      });
    };
    connection.disconnected.then(gone, gone);
    this.#setQuiet(this.#quiet);
    this.#keepAlive();
    this.#active();
  }

  /** @internal */
  override _read(): void {
    this.#end.pipe.resume();
  }

  /** @internal */
  override _write(chunk: unknown, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    if (!types.isUint8Array(chunk)) {
      callback(typeError('chunk', 'a Uint8Array or text', chunk));
      return;
    }
    this.#write(chunk, chunk.byteLength, callback);
  }

  /** @internal Several writes go in one message. */
  override _writev(
    chunks: { chunk: unknown; encoding: BufferEncoding }[],
    callback: (error?: Error | null) => void,
  ): void {
    const last = chunks.length - 1;
    let length = 0;
    for (let i = 0; i <= last; i++) {
      const bytes = chunks[i]?.chunk as Uint8Array;
      length += bytes.byteLength;
      if (i === last) this.#write(bytes, length, callback);
      else this.#end.pipe.write(bytes);
    }
  }

  /** The last bytes of a write that has so many. */
  #write(bytes: Uint8Array, length: number, callback: (error?: Error | null) => void): void {
    // The stream has counted the bytes when they were written.
    if (length !== this.writableLength) {
      callback(valueError('chunk', 'was detached or resized while it waited'));
      return;
    }
    this.#active();
    this.#end.pipe.write(bytes, (error) => {
      this.#sent += length;
      callback(error);
    });
  }

  /** @internal */
  override _final(callback: (error?: Error | null) => void): void {
    this.#end.pipe.finish(callback);
  }

  /** @internal */
  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearTimeout(this.#timer);
    clearInterval(this.#probe);
    const { pipe } = this.#end;
    const connection = this.#connection;
    const close = () => {
      connection?.close();
      pipe.close();
    };
    if (error !== null || connection === undefined || this.#reset) {
      close();
    } else {
      // The peer gets what was written, and the end.
      pipe.abandon();
      const late = setTimeout(close, LINGER);
      if (this.#quiet) late.unref();
      pipe.whenIdle(() => {
        clearTimeout(late);
        // The acknowledgement of the peer's last message is on its way in the next turns.
        setTimeout(close, 5);
      });
    }
    callback(error);
    // Behind 'error', as of `net.Socket`.
    process.nextTick(() => this.emit('close', error !== null));
  }

  #setQuiet(quiet: boolean): this {
    this.#quiet = quiet;
    if (this.#connection === undefined) return this;
    this.#end.pipe.quiet = quiet;
    if (quiet) this.#connection.unref?.();
    else this.#connection.ref?.();
    return this;
  }

  #keepAlive(): void {
    clearInterval(this.#probe);
    if (this.#probeEvery === 0 || this.#connection === undefined || this.destroyed) return;
    this.#probe = setInterval(() => {
      this.#end.pipe.probe();
    }, this.#probeEvery).unref();
  }

  /** Bytes were sent or received. */
  #active(): void {
    if (this.#timer !== undefined) {
      this.#timer.refresh();
      return;
    }
    if (this.#timeout === 0 || this.destroyed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.emit('timeout');
    }, this.#timeout).unref();
  }
}

function familyOf(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  return address.includes(':') ? 'IPv6' : 'IPv4';
}
