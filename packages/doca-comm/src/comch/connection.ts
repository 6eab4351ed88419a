import type { WaitOptions } from '@verbs/core';
import { DocaError, DocaStatus } from '../base/errors.js';
import type { ComchServerOrClient } from '../base/objects.js';
import { Consumer, type ConsumerOptions } from './consumer.js';
import { Producer, type ProducerOptions } from './producer.js';
import { TurnQueue } from './turn-queue.js';

/** The counters of a {@link Connection}. */
export interface ConnectionCounters {
  /** Messages sent. */
  sentMessages: bigint;
  /** Their bytes. */
  sentBytes: bigint;
  /** Messages received. */
  recvMessages: bigint;
  /** Their bytes. */
  recvBytes: bigint;
  /** Messages whose tasks have not completed. */
  inFlight: bigint;
}

/**
 * `doca_comch_connection`: messages of the control path, and the consumers and producers of the fast path. A server gets its
 * connections from `accept()`, a client from `connect()`.
 */
export class Connection implements AsyncIterable<Uint8Array> {
  /** This end: a Server or a Client. */
  readonly end: ComchServerOrClient;
  /** @internal */
  readonly number: number;
  /** A value of the program. */
  userData: unknown;
  readonly #messages: Uint8Array[] = [];
  readonly #consumers = new Set<number>();
  readonly #announced: number[] = [];
  readonly #receives = new TurnQueue();
  readonly #nexts = new TurnQueue();
  readonly #paths = new Set<Consumer | Producer>();
  #connected = true;
  /** Of a connection that has ended. */
  #last: ConnectionCounters | undefined;

  /** @internal */
  constructor(end: ComchServerOrClient, number: number) {
    this.end = end;
    this.number = number;
  }

  /** False after a disconnect, of either side. */
  get connected(): boolean {
    return this.#connected;
  }
  /** The ids of the peer's consumers that are there now. */
  get consumers(): number[] {
    return [...this.#consumers];
  }

  /** Submits a message; false if there is no room for it now. It is copied. @throws DocaError INVALID_VALUE, NOT_CONNECTED */
  trySend(message: Uint8Array): boolean {
    return this.end.trySend(this, message);
  }

  /**
   * Sends a message; resolves when its task has completed. `message` must not be changed before that.
   *
   * @throws DocaError its failure; `signal.reason`
   */
  send(message: Uint8Array, options?: WaitOptions): Promise<void> {
    return this.end.send(this, message, options);
  }

  /** A message that has come, or undefined. */
  poll(): Uint8Array | undefined {
    if (this.#messages.length === 0) this.end.progress();
    return this.#next();
  }

  /** The next message. @throws DocaError CONNECTION_RESET when the connection has ended; `signal.reason` */
  receive(options?: WaitOptions): Promise<Uint8Array> {
    return this.end.awaitInTurn(() => this.#unlessOver(this.#next()), this.#receives, options);
  }

  /** Messages until the connection ends. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const message = await this.end.awaitInTurn<Uint8Array | null>(
        () => this.#next() ?? (this.#connected ? undefined : null),
        this.#receives,
        undefined,
      );
      if (message === null) return;
      yield message;
    }
  }

  /** The id of the peer's next consumer, in the order of their start. @throws DocaError CONNECTION_RESET; `signal.reason` */
  nextConsumer(options?: WaitOptions): Promise<number> {
    return this.end.awaitInTurn(() => this.#unlessOver(this.#announced.shift()), this.#nexts, options);
  }

  /** `doca_comch_consumer_create` and its start: the peer can send to it. */
  createConsumer(options: ConsumerOptions): Promise<Consumer> {
    return this.#started(() => Consumer.create(this, options));
  }

  /** `doca_comch_producer_create` and its start. */
  createProducer(options?: ProducerOptions): Promise<Producer> {
    return this.#started(() => Producer.create(this, options));
  }

  /** `doca_comch_connection_update_info`, `_get_counter`; the last values of a connection that has ended. */
  counters(): ConnectionCounters {
    return this.#last ?? this.end.countersOf(this);
  }

  /**
   * Ends the connection; its consumers and producers are closed first. A client is closed by it.
   *
   * @throws DocaError NOT_CONNECTED if it has ended
   */
  async disconnect(): Promise<void> {
    if (!this.#connected) throw new DocaError(DocaStatus.NOT_CONNECTED, 'doca_comch_server_disconnect');
    await this.closePaths();
    await this.end.disconnect(this);
  }

  /** @internal */
  get backlog(): number {
    return this.#messages.length;
  }
  /** @internal */
  push(message: Uint8Array): void {
    this.#messages.push(message);
  }
  /** @internal */
  addConsumer(id: number): void {
    this.#consumers.add(id);
    this.#announced.push(id);
  }
  /** @internal */
  removeConsumer(id: number): void {
    this.#consumers.delete(id);
    const at = this.#announced.indexOf(id);
    if (at >= 0) this.#announced.splice(at, 1);
  }
  /** @internal */
  gone(last: ConnectionCounters | undefined): void {
    this.#connected = false;
    this.#last = last;
  }
  /** @internal */
  async closePaths(): Promise<void> {
    await Promise.all([...this.#paths].map((path) => path.closeAsync()));
  }
  /** @internal */
  closePathsNow(): void {
    for (const path of [...this.#paths]) path.close();
  }
  /** @internal */
  forgetPath(path: Consumer | Producer): void {
    this.#paths.delete(path);
    if (this.#paths.size === 0) this.end.owners.delete(this);
  }

  async #started<Path extends Consumer | Producer>(create: () => Path): Promise<Path> {
    const path = create();
    this.#paths.add(path);
    this.end.owners.add(this);
    try {
      await path.started();
    } catch (error) {
      await path.closeAsync();
      throw error;
    }
    return path;
  }

  #next(): Uint8Array | undefined {
    const message = this.#messages.shift();
    if (message !== undefined) this.end.received();
    return message;
  }
  /** What was found. Throws where there is nothing, and nothing will come any more. */
  #unlessOver<T>(found: T | undefined): T | undefined {
    if (found !== undefined || this.#connected) return found;
    throw new DocaError(DocaStatus.CONNECTION_RESET, 'doca_comch_event_msg_recv', 'the connection has ended');
  }
}
