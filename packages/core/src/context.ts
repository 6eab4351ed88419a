import { asyncEvent, type AsyncEvent } from './async-event.js';
import type { DeviceAttr, DeviceAttrEx, GidEntry, PortAttr } from './attributes.js';
import { CompletionChannel } from './completion-channel.js';
import { checkCqe, CompletionQueue, type WaitOptions } from './completion-queue.js';
import type { DeviceInfo } from './device-info.js';
import { checked, closedError, VerbsError } from './errors.js';
import { FdEvents } from './fd-events.js';
import { gidText } from './gid.js';
import { native, type NativeHandle } from './native.js';
import { ProtectionDomain } from './protection-domain.js';
import { handleOf, Resource } from './resource.js';
import { integer, object, optional } from './validate.js';
import { WakeList } from './wake-list.js';
import { WeakTable } from './weak-table.js';
import { kElement } from './symbols.js';

/** What {@link Context.createCq} may be told. */
export interface CqOptions {
  /** Needed for `cq.wait()` and `for await (… of cq)`. */
  channel?: CompletionChannel;
  /** Which interrupt of the device serves the queue, default 0. */
  compVector?: number;
}

/** `ibv_context`: an open device. Made by {@link openDevice}; `close()` is `ibv_close_device`. */
export class Context extends Resource {
  readonly device: DeviceInfo;
  readonly #events: FdEvents;
  readonly #wakes = new WakeList();
  readonly #queue: AsyncEvent[] = [];
  readonly #elements = new WeakTable<object>();

  /** @internal */
  constructor(device: DeviceInfo, handle: NativeHandle) {
    super('Context', handle, 'ibv_close_device', []);
    this.device = device;
    const weak = new WeakRef(this);
    this.#events = new FdEvents({
      watch: (callback) => native.watchAsync(handle, callback),
      ref: (alive) => {
        if (weak.deref()?.closed === false) native.refAsync(handle, alive);
      },
      drain: () => {
        const context = weak.deref();
        if (context !== undefined) context.#drain();
      },
      syscall: 'ibv_get_async_event',
    });
  }

  /** `ibv_context.num_comp_vectors`: how many completion vectors `createCq` may choose from. */
  get numCompVectors(): number {
    return native.numCompVectors(this.use('ibv_context.num_comp_vectors'));
  }

  /** `ibv_query_device`. */
  queryDevice(): DeviceAttr {
    return checked(native.queryDevice(this.use('ibv_query_device')), 'ibv_query_device');
  }

  /** `ibv_query_device_ex`: the same and more; zero where the device has no extended query. */
  queryDeviceEx(): DeviceAttrEx {
    return checked(native.queryDeviceEx(this.use('ibv_query_device_ex')), 'ibv_query_device_ex');
  }

  /**
   * `ibv_query_port`. Ports count from 1.
   *
   * @throws VerbsError EINVAL for a port that the device does not have
   */
  queryPort(portNum: number): PortAttr {
    const context = this.use('ibv_query_port');
    port(portNum);
    return checked(native.queryPort(context, portNum), 'ibv_query_port', { detail: `of port ${portNum}` });
  }

  /** `ibv_query_gid`: the GID as IPv6 text. An empty entry is `::`. */
  queryGid(portNum: number, index: number): string {
    const context = this.use('ibv_query_gid');
    port(portNum);
    integer(index, 'index', 0, 0x7fffffff);
    const detail = `${index} of port ${portNum}`;
    return gidText(checked(native.queryGid(context, portNum, index), 'ibv_query_gid', { detail }));
  }

  /** `ibv_query_pkey`: a partition key in host order. */
  queryPkey(portNum: number, index: number): number {
    const context = this.use('ibv_query_pkey');
    port(portNum);
    integer(index, 'index', 0, 0x7fffffff);
    const pkey = native.queryPkey(context, portNum, index);
    if (pkey < 0) throw new VerbsError(pkey, 'ibv_query_pkey', { detail: `${index} of port ${portNum}` });
    return pkey;
  }

  /** `ibv_query_gid_table`: the used entries of a port's GID table, or of all ports. */
  gidTable(portNum?: number): GidEntry[] {
    const context = this.use('ibv_query_gid_table');
    const { physPortCnt } = this.queryDevice();
    if (portNum !== undefined) this.queryPort(portNum);
    let room = 0;
    for (let each = 1; each <= physPortCnt; each++) room += this.queryPort(each).gidTblLen;
    const table = checked(native.queryGidTable(context, room), 'ibv_query_gid_table');
    return table
      .filter((entry) => portNum === undefined || entry.portNum === portNum)
      .map(({ gid, gidIndex, portNum, gidType, ndevIfindex }) => ({
        index: gidIndex,
        portNum,
        gid: gidText(gid),
        type: gidType,
        ndevIfindex,
      }));
  }

  /** `ibv_alloc_pd`. */
  allocPd(): ProtectionDomain {
    return new ProtectionDomain(this, checked(native.allocPd(this.use('ibv_alloc_pd')), 'ibv_alloc_pd'));
  }

  /** `ibv_create_comp_channel`. */
  createCompChannel(): CompletionChannel {
    const syscall = 'ibv_create_comp_channel';
    return new CompletionChannel(this, checked(native.createCompChannel(this.use(syscall)), syscall));
  }

  /**
   * `ibv_create_cq`.
   *
   * @param cqe room for at least so many completions: of all requests that may be outstanding, failing ones included
   * @throws VerbsError EINVAL, ENOMEM
   * @example const cq = ctx.createCq(64, { channel: ctx.createCompChannel() });
   */
  createCq(cqe: number, options: CqOptions = {}): CompletionQueue {
    const context = this.use('ibv_create_cq');
    checkCqe(cqe);
    const given = object(options, 'options', ['channel', 'compVector']);
    const vector = optional(given['compVector'], 'options.compVector', 0x7fffffff, 0);
    const channel =
      given['channel'] === undefined
        ? undefined
        : handleOf(given['channel'], 'CompletionChannel', 'options.channel', 'ibv_create_cq');
    const made = checked(native.createCq(context, cqe, channel, vector), 'ibv_create_cq', {
      detail: `of ${cqe} entries`,
    });
    return new CompletionQueue(this, options.channel, made);
  }

  /**
   * `ibv_get_async_event` and `ibv_ack_async_event`: the device's events as they come, until the context is closed or
   * the signal is aborted. It keeps the process alive meanwhile.
   *
   * @example for await (const { name, portNum } of ctx.asyncEvents()) console.log(name, portNum);
   */
  async *asyncEvents({ signal }: WaitOptions = {}): AsyncGenerator<AsyncEvent, void, undefined> {
    while (!this.closed) {
      signal?.throwIfAborted();
      if (this.#queue.length === 0) this.#drain();
      const event = this.#queue.shift();
      if (event !== undefined) {
        yield event;
        continue;
      }
      await this.#wakes.sleep(this.#events, this, signal).catch((error: unknown) => {
        if (!this.closed) throw error;
      });
    }
  }

  #drain(): void {
    // Bounded: the rest makes the descriptor readable again.
    for (let count = 0; count < 64; count++) {
      const event = native.getAsyncEvent(this.use('ibv_get_async_event'));
      if (typeof event === 'number') break;
      this.#queue.push(asyncEvent(...event, (id) => this.#elements.get(id)));
    }
    if (this.#queue.length !== 0) this.#wakes.wakeAll();
  }

  /** @internal Lets events find the object of an id; undefined forgets it. */
  [kElement](id: number, element: object | undefined): void {
    if (element === undefined) this.#elements.delete(id);
    else this.#elements.set(id, element);
  }

  protected override onClosed(): void {
    this.#events.closed();
    this.#wakes.failAll(closedError('Context', 'ibv_get_async_event'));
  }

  protected override describe() {
    const { name, library } = this.device;
    return { name, library };
  }
}

function port(portNum: unknown): void {
  integer(portNum, 'portNum', 1, 255);
}
