import type { WaitOptions } from '@verbs/core';
import { detachedError, isDetached, validate } from '@verbs/core/provider';
import { checked, DocaError, DocaStatus } from '../base/errors.js';
import { ComchCapability, type CreatedContext, native } from '../base/native.js';
import type { Connection } from '../base/objects.js';
import { submitted, type TakenEvent } from './context.js';
import { EventKind } from './events.js';
import { Mmap, mmapOf, whyNotMemory } from './mmap.js';
import { ComchPath, noPathHint, tasksOf } from './path.js';
import { TurnQueue } from './turn-queue.js';

/** The options of {@link Connection.createConsumer}. */
export interface ConsumerOptions {
  /** The memory that messages are received into. */
  mmap: Mmap;
  /** Messages that can be posted at a time, 64 without it. */
  tasks?: number;
}

/** What a {@link Consumer} has received. */
export interface Delivery {
  /** The message, in the memory that was posted for it. It is the program's again. */
  data: Uint8Array;
  /** The immediate data that came with it; empty without. */
  immediate: Uint8Array;
  /** The id of the producer at the other end. */
  producerId: number;
}

/**
 * `doca_comch_consumer`: receives messages of the fast path into registered memory, without a copy. A message needs memory
 * that was posted; until then its producer waits.
 *
 * @example
 * const device = openDevice('3b:00.0');
 * const connection = await new Client({ device, name: 'bulk' }).connect();
 * const mmap = allocMmap(device, 1 << 20);
 * const consumer = await connection.createConsumer({ mmap });
 * consumer.post(new Uint8Array(mmap.buffer));
 * const { data, immediate } = await consumer.receive();
 */
export class Consumer extends ComchPath implements AsyncIterable<Delivery> {
  /** The memory that it receives into. */
  readonly mmap: Mmap;
  readonly #posted = new Map<number, Uint8Array>();
  readonly #done: (Delivery | Error)[] = [];
  readonly #receives = new TurnQueue();

  private constructor(connection: Connection, created: CreatedContext, mmap: Mmap) {
    super(connection, created);
    this.mmap = mmap;
  }

  /** @internal */
  static create(connection: Connection, options: ConsumerOptions): Consumer {
    const { mmap, tasks } = validate.object(options, 'options', ['mmap', 'tasks']);
    if (!(mmap instanceof Mmap)) throw validate.typeError('options.mmap', 'an Mmap', mmap);
    const { created: end, device } = connection.end;
    const capability = ComchCapability.CONSUMER_TASKS;
    const count = tasksOf(tasks, device, capability, 'doca_comch_consumer_task_post_recv_set_conf');
    const created = native.createConsumer(end.handle, connection.number, count, mmap.handle);
    const hint =
      created === -DocaStatus.INVALID_VALUE ? whyNotMemory(mmap, device, 'options.mmap', true) : noPathHint(created);
    return new Consumer(connection, checked<CreatedContext>(created, 'doca_comch_consumer_create', hint), mmap);
  }

  /**
   * `doca_comch_consumer_task_post_recv`: the next message goes into this view of the mmap. False if as many are posted as the
   * consumer has tasks.
   *
   * @throws TypeError for other memory; DocaError BAD_STATE, INVALID_VALUE
   */
  post(view: Uint8Array): boolean {
    const { mmap, offset, length } = mmapOf(view, 'view');
    if (mmap !== this.mmap) throw validate.valueError('view', "must be a view of the consumer's mmap");
    const cookie = this.nextCookie();
    const status = native.postReceive(this.created.handle, offset, length, cookie);
    if (!submitted(status, this.syscall('task_post_recv_alloc_init'))) return false;
    this.#posted.set(cookie, view);
    return true;
  }

  /** A message that has come, or undefined. @throws DocaError the failure of one that was posted */
  poll(): Delivery | undefined {
    if (this.#done.length === 0) this.progress();
    return this.#next();
  }

  /** The next message. @throws DocaError the failure of one that was posted; CONNECTION_RESET; `signal.reason` */
  receive(options?: WaitOptions): Promise<Delivery> {
    const next = () => {
      const found = this.#next();
      if (found !== undefined || this.isRunning) return found;
      // What has come before the end is the program's still.
      const last = this.poll();
      if (last !== undefined) return last;
      const hint = 'it was stopped, or the connection has ended';
      throw new DocaError(DocaStatus.CONNECTION_RESET, this.syscall('create'), hint);
    };
    return this.waitInTurn(next, this.#receives, options, this.syscall('task_post_recv'));
  }

  /** Messages until the consumer is closed or the connection ends. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Delivery, void, undefined> {
    for (;;) {
      try {
        yield await this.receive();
      } catch (error) {
        if (this.closed || !this.connection.connected) return;
        throw error;
      }
    }
  }

  protected override take({ kind, connection: producerId, number: status, cookie, extra, bytes }: TakenEvent): void {
    if (kind !== EventKind.RECEIVED) return;
    const view = this.#posted.get(cookie);
    this.#posted.delete(cookie);
    if (view === undefined) return;
    if (isDetached(view)) {
      this.#done.push(detachedError('view'));
    } else if (status === DocaStatus.SUCCESS) {
      this.#done.push({ data: view.subarray(0, extra), immediate: bytes.slice(), producerId });
    } else {
      this.#done.push(new DocaError(status, this.syscall('task_post_recv'), whyFailed(status, view)));
    }
  }
  protected override syscall(name: string): string {
    return `doca_comch_consumer_${name}`;
  }

  #next(): Delivery | undefined {
    const next = this.#done.shift();
    if (next instanceof Error) throw next;
    return next;
  }
}

const whyFailed = (status: number, { byteLength }: Uint8Array) =>
  status === DocaStatus.TOO_BIG
    ? `the message is longer than the posted view, which has ${byteLength} bytes; the consumer goes on, and the next message takes the next view`
    : 'the consumer was stopped, or its peer is gone';
