import type { WaitOptions } from '@verbs/core';
import { uint8Array, validate } from '@verbs/core/provider';
import { checked, DocaError, DocaStatus } from '../base/errors.js';
import { ComchCapability, type CreatedContext, native } from '../base/native.js';
import type { Connection } from '../base/objects.js';
import { submitted } from './context.js';
import { type Mmap, mmapOf, whyNotMemory } from './mmap.js';
import { ComchPath, noPathHint, tasksOf } from './path.js';
import { TurnQueue } from './turn-queue.js';

/** The options of {@link Connection.createProducer}. */
export interface ProducerOptions {
  /** Messages under way at a time, 64 without it. */
  tasks?: number;
}

/** Bytes of immediate data. */
const IMMEDIATE = 32;

/**
 * `doca_comch_producer`: sends messages of the fast path from registered memory, without a copy, to consumers of the peer.
 *
 * @example
 * const device = openDevice('3b:00.0');
 * const connection = await new Client({ device, name: 'bulk' }).connect();
 * const mmap = allocMmap(device, 1 << 20);
 * const producer = await connection.createProducer();
 * const consumer = await connection.nextConsumer();
 * await producer.send(new Uint8Array(mmap.buffer, 0, 1 << 20), consumer, Buffer.from('a tag'));
 */
export class Producer extends ComchPath {
  readonly #sends = new TurnQueue();

  private constructor(connection: Connection, created: CreatedContext) {
    super(connection, created);
  }

  /** @internal */
  static create(connection: Connection, options: ProducerOptions | undefined): Producer {
    const { tasks } = options === undefined ? {} : validate.object(options, 'options', ['tasks']);
    const { created: end, device } = connection.end;
    const capability = ComchCapability.PRODUCER_TASKS;
    const count = tasksOf(tasks, device, capability, 'doca_comch_producer_task_send_set_conf');
    const created = native.createProducer(end.handle, connection.number, count);
    const hint = noPathHint(created);
    return new Producer(connection, checked<CreatedContext>(created, 'doca_comch_producer_create', hint));
  }

  /**
   * `doca_comch_producer_task_send`: submits a view of an mmap, which must not be changed until it has gone. False if as many
   * are under way as the producer has tasks. Its result is not told: `send` tells it.
   *
   * @param consumer one of `connection.consumers`
   * @param immediate up to 32 bytes on BlueField
   * @throws TypeError for other memory; DocaError BAD_STATE, INVALID_VALUE
   */
  trySend(view: Uint8Array, consumer: number, immediate?: Uint8Array): boolean {
    const submit = this.#submission(view, consumer, immediate);
    if (submitted(submit(0), this.syscall('task_send_alloc_init'))) return true;
    this.progress();
    return submitted(submit(0), this.syscall('task_send_alloc_init'));
  }

  /** The same, and waits for room and for the completion. @throws DocaError its failure; `signal.reason` */
  send(view: Uint8Array, consumer: number, immediate?: Uint8Array, options?: WaitOptions): Promise<void> {
    const submission = () => this.#submission(view, consumer, immediate);
    return this.complete(submission, this.#sends, options, this.syscall('task_send'));
  }

  #submission(view: Uint8Array, consumer: number, immediate: Uint8Array | undefined): (cookie: number) => number {
    // At each attempt: who waits for room may have transferred the memory.
    const parts = () => {
      if (immediate !== undefined) uint8Array(immediate, 'immediate');
      return mmapOf(view, 'view');
    };
    parts();
    validate.integer(consumer, 'consumer', 0, 2 ** 32 - 1);
    return (cookie) => {
      const { mmap, offset, length } = parts();
      const { handle } = this.created;
      const status = native.produce(handle, mmap.handle, offset, length, immediate, consumer, cookie);
      if (status !== -DocaStatus.INVALID_VALUE) return status;
      const why = this.#whyInvalid(mmap, length, consumer, immediate);
      throw new DocaError(DocaStatus.INVALID_VALUE, this.syscall('task_send'), why);
    };
  }

  #whyInvalid(mmap: Mmap, length: number, consumer: number, immediate: Uint8Array | undefined): string {
    const { consumers, end } = this.connection;
    if (!consumers.includes(consumer))
      return `the peer has no consumer ${consumer}; its consumers are: ${consumers.join(', ') || 'none'}`;
    if (immediate !== undefined && immediate.byteLength > IMMEDIATE)
      return `the immediate data has ${immediate.byteLength} bytes; a BlueField takes up to ${IMMEDIATE}`;
    const most = native.comchCapability(end.device.handle, ComchCapability.PRODUCER_BUF_SIZE);
    return most > 0 && length > most
      ? `the view has ${length} bytes; the device's maximum is ${most}`
      : whyNotMemory(mmap, end.device, 'the view');
  }

  protected override take(): void {
    return;
  }
  protected override syscall(name: string): string {
    return `doca_comch_producer_${name}`;
  }
}
