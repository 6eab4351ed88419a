import { type AhAttr, type FullAhAttr, nativeAhAttr, publicAhAttr } from './ah-attr.js';
import { asyncEvent, type AsyncEvent } from './async-event.js';
import type { DeviceAttr, DeviceAttrEx, GidEntry, PortAttr } from './attributes.js';
import { CompletionChannel } from './completion-channel.js';
import { checkCqe, CompletionQueue, type WaitOptions } from './completion-queue.js';
import { Counters } from './counters.js';
import type { DeviceInfo } from './device-info.js';
import { DeviceMemory } from './device-memory.js';
import { check, checked, closedError, VerbsError } from './errors.js';
import { FdEvents } from './fd-events.js';
import { gidText } from './gid.js';
import { IndirectionTable } from './indirection-table.js';
import { native, type NativeGidEntry, type NativeHandle } from './native.js';
import { ProtectionDomain } from './protection-domain.js';
import { type ReceivedFrom, receivedFrom } from './received-from.js';
import type { ReceiveWorkQueue } from './receive-work-queue.js';
import { handleOf, Resource } from './resource.js';
import { ThreadDomain } from './thread-domain.js';
import { boolean, integer, object, optional } from './validate.js';
import { WakeList } from './wake-list.js';
import { WeakTable } from './weak-table.js';
import { kElement } from './symbols.js';
import { XrcDomain } from './xrc-domain.js';

/** What {@link Context.createCq} may be told. */
export interface CqOptions {
  /** Needed for `cq.wait()` and `for await (… of cq)`. */
  channel?: CompletionChannel;
  /** Which interrupt of the device serves the queue, default 0. */
  compVector?: number;
  /** See {@link WcExFlags}: what completions tell; default the plain fields. */
  wcFlags?: number;
  /** See {@link CreateCqFlags}; default 0. */
  flags?: number;
  /** The parent domain whose thread uses the queue. */
  parentDomain?: ProtectionDomain;
}

const extendedNames = ['wcFlags', 'flags', 'parentDomain'];
/** What `struct ibv_wc` has. */
const STANDARD_WC = 0x7f;

function extendedCq(given: Record<string, unknown>) {
  const domain = given['parentDomain'];
  return {
    wcFlags: BigInt(optional(given['wcFlags'], 'options.wcFlags', 0x7fffffff, STANDARD_WC)),
    flags: optional(given['flags'], 'options.flags', 0x7fffffff, 0),
    ...(domain === undefined
      ? {}
      : { parentDomain: handleOf(domain, 'ProtectionDomain', 'options.parentDomain', 'ibv_create_cq_ex') }),
  };
}

function gidEntry({ gid, gidIndex, portNum, gidType, ndevIfindex }: NativeGidEntry): GidEntry {
  return { index: gidIndex, portNum, gid: gidText(gid), type: gidType, ndevIfindex };
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
    return table.filter((entry) => portNum === undefined || entry.portNum === portNum).map(gidEntry);
  }

  /**
   * `ibv_query_gid_ex`: one entry of the GID table, with its type and network interface.
   *
   * @throws VerbsError ENODATA (an empty entry), EINVAL
   */
  queryGidEx(portNum: number, index: number): GidEntry {
    const context = this.use('ibv_query_gid_ex');
    port(portNum);
    integer(index, 'index', 0, 0x7fffffff);
    const detail = `${index} of port ${portNum}`;
    return gidEntry(checked(native.queryGidEx(context, portNum, index), 'ibv_query_gid_ex', { detail }));
  }

  /** `ibv_get_pkey_index`: where a partition key (in host order) is in the port's table. */
  pkeyIndex(portNum: number, pkey: number): number {
    const context = this.use('ibv_get_pkey_index');
    port(portNum);
    integer(pkey, 'pkey', 0, 0xffff);
    const index = native.getPkeyIndex(context, portNum, pkey);
    check(index, 'ibv_get_pkey_index', { detail: `of 0x${pkey.toString(16)}` });
    return index;
  }

  /**
   * `ibv_query_rt_values_ex`: the device's clock now, in ticks (`hcaCoreClock` kHz), as completion timestamps have it.
   *
   * @throws VerbsError EOPNOTSUPP
   */
  queryRtValues(): { rawClock: bigint } {
    const syscall = 'ibv_query_rt_values_ex';
    const rawClock = native.queryRtValues(this.use(syscall));
    if (typeof rawClock === 'number') throw new VerbsError(rawClock, syscall);
    return { rawClock };
  }

  /** `ibv_context.cmd_fd`: give a duplicate of it to {@link importDevice}, which keeps what it gets. */
  get cmdFd(): number {
    return native.cmdFd(this.use('ibv_context.cmd_fd'));
  }

  /** `ibv_import_pd`: by the `pdHandle` of a protection domain of this device. `close()` is `ibv_unimport_pd`. */
  importPd(pdHandle: number): ProtectionDomain {
    const context = this.use('ibv_import_pd');
    integer(pdHandle, 'pdHandle', 0, 0xffffffff);
    const handle = checked(native.importPd(context, pdHandle), 'ibv_import_pd', { detail: `of handle ${pdHandle}` });
    return new ProtectionDomain(this, handle, [this], true);
  }

  /** `ibv_alloc_td`. */
  allocTd(): ThreadDomain {
    return new ThreadDomain(this, checked(native.allocTd(this.use('ibv_alloc_td')), 'ibv_alloc_td'));
  }

  /**
   * `ibv_open_xrcd`.
   *
   * @param options `fd`: an open file that names the domain, so that others can open the same; without it nobody can.
   *   `exclusive` (O_EXCL): it must not exist yet
   * @throws VerbsError EOPNOTSUPP, EINVAL, EEXIST
   */
  openXrcd(options: { fd?: number; exclusive?: boolean } = {}): XrcDomain {
    const context = this.use('ibv_open_xrcd');
    const given = object(options, 'options', ['fd', 'exclusive']);
    const fd = given['fd'] === undefined ? -1 : integer(given['fd'], 'options.fd', 0, 0x7fffffff);
    const exclusive = boolean(given['exclusive'], 'options.exclusive', false);
    return new XrcDomain(this, checked(native.openXrcd(context, fd, exclusive), 'ibv_open_xrcd'));
  }

  /**
   * `ibv_alloc_dm`: memory on the device.
   *
   * @param length bytes, at most `maxDmSize` of `queryDeviceEx()`
   * @param options `logAlignment`: the alignment as a power of two, default 0
   * @throws VerbsError EOPNOTSUPP, ENOMEM, EINVAL
   */
  allocDm(length: number, options: { logAlignment?: number } = {}): DeviceMemory {
    const context = this.use('ibv_alloc_dm');
    integer(length, 'length', 1, Number.MAX_SAFE_INTEGER);
    const { logAlignment } = object(options, 'options', ['logAlignment']);
    const alignment = optional(logAlignment, 'options.logAlignment', 63, 0);
    const made = checked(native.allocDm(context, length, alignment), 'ibv_alloc_dm', { detail: `of ${length} bytes` });
    return new DeviceMemory(this, made, length, false);
  }

  /** `ibv_import_dm`: by the `dmHandle` and the length of device memory. `close()` is `ibv_unimport_dm`. */
  importDm(dmHandle: number, length: number): DeviceMemory {
    const context = this.use('ibv_import_dm');
    integer(dmHandle, 'dmHandle', 0, 0xffffffff);
    integer(length, 'length', 1, Number.MAX_SAFE_INTEGER);
    const made = checked(native.importDm(context, dmHandle, length), 'ibv_import_dm');
    return new DeviceMemory(this, made, length, true);
  }

  /** `ibv_create_counters`. */
  createCounters(): Counters {
    const syscall = 'ibv_create_counters';
    return new Counters(this, checked(native.createCounters(this.use(syscall)), syscall));
  }

  /** `ibv_create_rwq_ind_table`: a power of two of queues. */
  createRwqIndTable(queues: readonly ReceiveWorkQueue[]): IndirectionTable {
    this.use('ibv_create_rwq_ind_table');
    return new IndirectionTable(this, queues);
  }

  /**
   * `ibv_init_ah_from_wc`: the way back to who sent a datagram, for {@link ProtectionDomain.createAh}.
   *
   * @param grh the first 40 bytes of the receive buffer; needed if `wc.wcFlags` has GRH
   */
  initAhFromWc(portNum: number, wc: ReceivedFrom, grh: Uint8Array | undefined): FullAhAttr {
    const syscall = 'ibv_init_ah_from_wc';
    const context = this.use(syscall);
    port(portNum);
    const { completion, header } = receivedFrom(wc, grh);
    return publicAhAttr(checked(native.initAhFromWc(context, portNum, completion, header), syscall));
  }

  /**
   * `ibv_resolve_eth_l2_from_gid`: the peer's MAC address and VLAN (0 to 4095; 0xffff for none) behind a route.
   *
   * @throws VerbsError EINVAL, EHOSTUNREACH, EOPNOTSUPP
   */
  resolveEthL2FromGid(attr: AhAttr): { mac: Uint8Array; vlanId: number } {
    const syscall = 'ibv_resolve_eth_l2_from_gid';
    return checked(native.resolveEthL2FromGid(this.use(syscall), nativeAhAttr(attr, 'attr')), syscall);
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
   * `ibv_create_cq`, or `ibv_create_cq_ex` (and `ibv_cq_ex_to_cq`) with any of `wcFlags`, `flags` and `parentDomain`.
   *
   * @param cqe room for at least so many completions: of all requests that may be outstanding, failing ones included
   * @throws VerbsError EINVAL, ENOMEM
   * @example const cq = ctx.createCq(64, { channel: ctx.createCompChannel() });
   */
  createCq(cqe: number, options: CqOptions = {}): CompletionQueue {
    const context = this.use('ibv_create_cq');
    checkCqe(cqe);
    const given = object(options, 'options', ['channel', 'compVector', ...extendedNames]);
    const vector = optional(given['compVector'], 'options.compVector', 0x7fffffff, 0);
    const channel =
      given['channel'] === undefined
        ? undefined
        : handleOf(given['channel'], 'CompletionChannel', 'options.channel', 'ibv_create_cq');
    const extended = extendedNames.some((name) => given[name] !== undefined) ? extendedCq(given) : undefined;
    const syscall = extended === undefined ? 'ibv_create_cq' : 'ibv_create_cq_ex';
    const detail = `of ${cqe} entries`;
    const made = checked(native.createCq(context, cqe, channel, vector, extended), syscall, { detail });
    const { parentDomain } = options;
    return new CompletionQueue(
      this,
      options.channel,
      made,
      extended && { wcFlags: Number(extended.wcFlags), parentDomain },
    );
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
