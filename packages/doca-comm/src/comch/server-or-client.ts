import type { WaitOptions } from '@verbs/core';
import { uint8Array, validate } from '@verbs/core/provider';
import { nameTooLong, serviceName } from '../base/arguments.js';
import { deviceOf } from '../base/device.js';
import type { Device } from '../base/device.js';
import { checked, DocaError, DocaStatus } from '../base/errors.js';
import { ComchCapability, type CreatedContext, native } from '../base/native.js';
import { Connection, type ConnectionCounters } from './connection.js';
import { ComchContext, submitted, type TakenEvent } from './context.js';
import { Engine } from './engine.js';
import { ComchSize, EventKind } from './events.js';
import { TurnQueue } from './turn-queue.js';

/** Of a {@link Server} and a {@link Client}. */
export interface ComchOptions {
  /** The device, opened with the API 'comch'. */
  device: Device;
  /** The name of the service. */
  name: string;
  /** Bytes of the longest message; the device's maximum without it. */
  maxMsgSize?: number;
  /** Messages in the receive queue, 64 without it. */
  recvQueueSize?: number;
  /** Messages under way at a time, of all connections together; 1024 without it, or the device's maximum. */
  sendTasks?: number;
}

/**
 * Messages of a connection that nobody has received, before the end stops taking others. Where somebody awaits the completion
 * of a task, which may be behind them, it takes more: so many of all connections together.
 */
const QUEUE = 64;
const QUEUE_OF_SENDER = 2 ** 14;
const TASKS = 1024;
const BACKLOG = 2 ** 22;

/** What {@link Server} and {@link Client} have in common: their connections and messages. */
export abstract class ComchServerOrClient extends ComchContext {
  /** The device that it goes through. */
  readonly device: Device;
  /** The name of the service. */
  readonly name: string;
  readonly #connections = new Map<number, Connection>();
  /** @internal Connections with consumers and producers, which outlive a connection that the peer has ended. */
  readonly owners = new Set<Connection>();
  readonly #sends = new TurnQueue();
  readonly #counters = new BigUint64Array(5);
  readonly #prefix: string;

  /** @internal */
  constructor(engine: Engine, created: CreatedContext, options: ComchOptions) {
    super(engine, created);
    this.device = options.device;
    this.name = options.name;
    this.#prefix = options.device.library.comch?.prefix ?? '';
    try {
      this.#start(options);
    } catch (error) {
      native.destroyContext(created.handle);
      engine.close();
      throw error;
    }
    engine.add(created.id, this);
  }

  #start({ maxMsgSize, recvQueueSize = QUEUE, sendTasks }: ComchOptions): void {
    const { maxMessageSize, maxRecvQueueSize, maxSendQueueSize: most } = this.device.capabilities();
    const set = (which: number, size: number, name: string, hint: string) => {
      checked(native.setComchSize(this.created.handle, which, size), this.syscall(name), hint);
    };
    if (maxMsgSize !== undefined) {
      const hint = `options.maxMsgSize ${maxMsgSize}: the device's maximum is ${maxMessageSize}`;
      set(ComchSize.MESSAGE, maxMsgSize, 'set_max_msg_size', hint);
    }
    const hint = `options.recvQueueSize ${recvQueueSize}: the device's maximum is ${maxRecvQueueSize}`;
    set(ComchSize.RECV_QUEUE, recvQueueSize, 'set_recv_queue_size', hint);
    const tasksHint = `options.sendTasks ${sendTasks}: the device's maximum is ${most}`;
    if (sendTasks !== undefined && sendTasks > most) {
      throw new DocaError(DocaStatus.INVALID_VALUE, this.syscall('task_send_set_conf'), tasksHint);
    }
    set(ComchSize.SEND_TASKS, sendTasks ?? Math.min(TASKS, most), 'task_send_set_conf', tasksHint);
    const status = native.startContext(this.created.handle);
    if (status === -DocaStatus.IN_PROGRESS) return;
    const hints: Record<number, string> = {
      [DocaStatus.ALREADY_EXIST]: `another server of this function has the name ${this.name}: close that one, or take another name`,
      [DocaStatus.INITIALIZATION]: native.lastError(this.device.library.handle) || 'it could not be set up',
    };
    checked(status, 'doca_ctx_start', hints[-status]);
  }

  /** The longest message, bytes. */
  get maxMsgSize(): number {
    const size = native.comchSize(this.created.handle, ComchSize.MESSAGE);
    return checked(size, this.syscall('get_max_msg_size'), this.closed ? 'it was closed' : undefined);
  }

  /** The connections that are there now. */
  get connections(): Connection[] {
    return [...this.#connections.values()];
  }

  /** @internal */
  trySend(connection: Connection, message: Uint8Array): boolean {
    const submit = () => this.#submit(connection, message, 0);
    if (submitted(submit(), this.syscall('task_send_alloc_init'))) return true;
    this.progress();
    return submitted(submit(), this.syscall('task_send_alloc_init'));
  }
  /** @internal */
  send(connection: Connection, message: Uint8Array, options: WaitOptions | undefined): Promise<void> {
    const submission = () => {
      uint8Array(message, 'message');
      return (cookie: number) => this.#submit(connection, message, cookie);
    };
    return this.complete(submission, this.#sends, options, this.syscall('task_send'));
  }
  /** @internal */
  await<T>(attempt: () => T | undefined, options: WaitOptions | undefined): Promise<T> {
    return this.wait(attempt, options, this.syscall('event_msg_recv'));
  }
  /** @internal The same in the order of the calls. */
  awaitInTurn<T>(attempt: () => T | undefined, queue: TurnQueue, options: WaitOptions | undefined): Promise<T> {
    return this.waitInTurn(attempt, queue, options, this.syscall('event_msg_recv'));
  }
  /** @internal A message was given to the program. */
  received(): void {
    this.madeRoom();
  }
  /** @internal */
  countersOf(connection: Connection): ConnectionCounters {
    native.comchUpdateInfo(this.created.handle, connection.number);
    const status = native.comchCounters(this.created.handle, connection.number, this.#counters);
    checked(status, `${this.#prefix}connection_get_counter`);
    return this.#namedCounters();
  }
  /** @internal */
  abstract disconnect(connection: Connection): Promise<void>;

  /** A connection that has ended: nothing of it is needed any more. */
  protected forget(connection: Connection): void {
    // The program and the peer may both have ended it.
    if (!connection.connected) return;
    const { number } = connection;
    this.#connections.delete(number);
    const known = native.comchCounters(this.created.handle, number, this.#counters) === 0;
    connection.gone(known ? { ...this.#namedCounters(), inFlight: 0n } : undefined);
    native.comchForget(this.created.handle, number);
  }
  protected abstract connected(connection: Connection): void;
  /** 'doca_comch_server_create' for 'create'. */
  protected abstract syscall(name: string): string;
  protected get prefix(): string {
    return this.#prefix;
  }

  protected override take({ kind, connection: number, number: id, bytes }: TakenEvent): void {
    const known = this.#connections.get(number);
    if (kind === EventKind.CONNECTED && known === undefined) {
      const connection = new Connection(this, number);
      this.#connections.set(number, connection);
      this.connected(connection);
    } else if (known === undefined) {
      return;
    } else if (kind === EventKind.MESSAGE) {
      known.push(bytes.slice());
    } else if (kind === EventKind.CONSUMER_NEW) {
      known.addConsumer(id);
    } else if (kind === EventKind.CONSUMER_GONE) {
      known.removeConsumer(id);
    } else if (kind === EventKind.DISCONNECTED) {
      this.forget(known);
    }
  }
  protected override isFull(): boolean {
    let [most, all] = [0, 0];
    for (const { backlog } of this.#connections.values()) {
      most = Math.max(most, backlog);
      all += backlog;
    }
    return most >= QUEUE && !(this.awaitsTask && all < QUEUE_OF_SENDER);
  }
  protected override isSettled(): boolean {
    return native.comchInFlight(this.created.handle) <= 0;
  }
  protected override closeChildren(): void {
    for (const connection of this.owners) connection.closePathsNow();
  }
  protected override async closeChildrenAsync(): Promise<void> {
    await Promise.all([...this.owners].map((connection) => connection.closePaths()));
  }
  protected override ending(): void {
    for (const connection of this.connections) this.forget(connection);
  }
  protected override ended(): void {
    this.engine.close();
  }

  #namedCounters(): ConnectionCounters {
    const [sentMessages = 0n, sentBytes = 0n, recvMessages = 0n, recvBytes = 0n, inFlight = 0n] = this.#counters;
    return { sentMessages, sentBytes, recvMessages, recvBytes, inFlight };
  }

  #submit(connection: Connection, message: Uint8Array, cookie: number): number {
    // At each attempt: who waits for room may have transferred the memory.
    uint8Array(message, 'message');
    if (!connection.connected) return -DocaStatus.NOT_CONNECTED;
    const status = native.comchSend(this.created.handle, connection.number, message, cookie, 2 ** 31);
    const { byteLength } = message;
    if (status !== -DocaStatus.INVALID_VALUE || byteLength <= this.maxMsgSize) return status;
    const hint = `the message has ${byteLength} bytes; ${this.maxMsgSize} is the maximum (maxMsgSize)`;
    throw new DocaError(DocaStatus.INVALID_VALUE, this.syscall('task_send_alloc_init'), hint);
  }
}

/** Checks the options of a 'server' or a 'client'. */
export function comchOptions(options: unknown, role: 'server' | 'client', more: string[] = []): ComchOptions {
  const known = ['device', 'name', 'maxMsgSize', 'recvQueueSize', 'sendTasks', ...more];
  const given = validate.object(options, 'options', known) as unknown as ComchOptions;
  const device = deviceOf(given.device, 'options.device');
  serviceName(given.name);
  for (const name of ['maxMsgSize', 'recvQueueSize', 'sendTasks'] as const) {
    const value: unknown = given[name];
    if (value !== undefined) validate.integer(value, `options.${name}`, 1, 2 ** 31 - 1);
  }
  const library = device.library as Partial<typeof device.library> | undefined;
  if (library?.comch === undefined) {
    const hint = `the device's libraries have no Comch: ${library?.missing?.comch ?? ''}`;
    throw new DocaError(DocaStatus.NOT_SUPPORTED, `doca_comch_${role}_create`, hint);
  }
  return given;
}

/** What is wrong with the name, where a server or client with it cannot be created. */
export function nameHint(created: unknown, { device, name }: ComchOptions): string | undefined {
  const most = native.comchCapability(device.handle, ComchCapability.NAME_LEN);
  return created === -DocaStatus.INVALID_VALUE && most > 0 ? nameTooLong(name, most) : undefined;
}

/** An engine for a server or client of that device. */
export const engineFor = ({ library }: Device): Engine => new Engine(library, BACKLOG);
