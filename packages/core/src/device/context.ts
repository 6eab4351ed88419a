import { checked } from '../base/errors.js';
import { errno } from '../base/errno.js';
import { fields, flag, maybe, or, range, u31, u32, u8 } from '../base/fields.js';
import { formatGuid } from '../base/gid.js';
import { native, type NativeHandle } from '../base/native.js';
import { kElement, kEvents } from '../base/symbols.js';
import { integer } from '../base/validate.js';
import { signalOf, type WaitOptions } from '../base/wait-options.js';
import { CompletionChannel } from '../completion/completion-channel.js';
import { type CompCntrCaps, CompletionCounter } from '../completion/completion-counter.js';
import { CompletionQueue } from '../completion/completion-queue.js';
import { checkCqe, type CqOptions, nativeCqOptions } from '../completion/cq-options.js';
import type { CompCntrType } from '../enums/index.js';
import { Resource } from '../lifetime/resource.js';
import { DeviceMemory } from '../memory/device-memory.js';
import { DmaHandle, type DmahInitAttr } from '../memory/dma-handle.js';
import { Counters } from '../qp/counters.js';
import { IndirectionTable } from '../qp/indirection-table.js';
import type { ReceiveWorkQueue } from '../qp/receive-work-queue.js';
import type { ReceivedFrom } from '../qp/received-from.js';
import { XrcDomain } from '../qp/xrc-domain.js';
import type { AhAttr, FullAhAttr } from '../types/ah-attr.js';
import type { AsyncEvent, DeviceAttr, DeviceAttrEx, DeviceInfo, GidEntry, PortAttr } from '../types/device.js';
import type { DeviceEventEmitter } from './device-event-emitter.js';
import { DeviceEvents } from './device-events.js';
import { ProtectionDomain } from './protection-domain.js';
import * as queries from './queries.js';
import { ThreadDomain } from './thread-domain.js';

const compCntrOptions = fields({ type: or(range(0, 1), 0) });
const dmahAttr = fields({ cpuId: maybe(u32()), ph: maybe(u8()), tphMemType: maybe(u8()) });
const xrcdOptions = fields({ fd: or(u31(), -1), exclusive: flag() });
const dmOptions = fields({ logAlignment: or(range(0, 63), 0) });

/**
 * `ibv_context`: an open device. Created by {@link openDevice}; `close()` is `ibv_close_device`, and closes everything
 * that was created with it.
 *
 * @example
 * using ctx = openDevice();
 * const pd = ctx.allocPd();
 * const cq = ctx.createCq(64);
 * const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 16, maxRecvWr: 16 } });
 */
export class Context extends Resource {
  /** The device, as `listDevices()` describes it. */
  readonly device: DeviceInfo;
  readonly #events: DeviceEvents;
  #channel: CompletionChannel | undefined;

  /** @internal */
  constructor(device: DeviceInfo, handle: NativeHandle) {
    super('Context', handle, 'ibv_close_device', []);
    this.device = device;
    this.#events = new DeviceEvents(this, handle);
  }

  /** `ibv_context.num_comp_vectors`: how many completion vectors `createCq` may choose from. */
  get numCompVectors(): number {
    return native.numCompVectors(this.use('ibv_context.num_comp_vectors'));
  }

  /**
   * `ibv_query_device`: the attributes and the limits of the device.
   *
   * @throws VerbsError with the library's errno, of a device that failed
   * @example if (ctx.queryDevice().maxQpWr < 4096) console.log('queues are short here');
   */
  queryDevice(): DeviceAttr {
    return queries.queryDevice(this.use('ibv_query_device'));
  }

  /**
   * `ibv_query_device_ex`: the same and more; zero where the device has no extended query.
   *
   * @throws VerbsError with the library's errno, of a device that failed
   * @example const ticksPerSecond = ctx.queryDeviceEx().hcaCoreClock * 1000n;
   */
  queryDeviceEx(): DeviceAttrEx {
    return queries.queryDeviceEx(this.use('ibv_query_device_ex'));
  }

  /**
   * `ibv_query_port`: a port's state, addresses and limits.
   *
   * @param portNum from 1 to `physPortCnt` of {@link Context.queryDevice}
   * @throws VerbsError EINVAL for a port that the device does not have
   * @example if (ctx.queryPort(1).state !== PortState.ACTIVE) throw new Error('the link is down');
   */
  queryPort(portNum: number): PortAttr {
    return queries.queryPort(this.use('ibv_query_port'), portNum);
  }

  /**
   * `ibv_query_gid`: the GID as IPv6 text. An empty entry is `::`.
   *
   * @param index 0 to `gidTblLen` - 1 of {@link Context.queryPort}
   * @throws VerbsError EINVAL for a port or an index that the device does not have
   * @example ctx.queryGid(1, 0); // '::ffff:127.0.0.1'
   */
  queryGid(portNum: number, index: number): string {
    return queries.queryGid(this.use('ibv_query_gid'), portNum, index);
  }

  /**
   * `ibv_query_pkey`: a partition key in host order, 16 bits. 0xffff is that of the default partition.
   *
   * @param index 0 to `pkeyTblLen` - 1 of {@link Context.queryPort}
   * @throws VerbsError EINVAL for a port or an index that the device does not have
   */
  queryPkey(portNum: number, index: number): number {
    return queries.queryPkey(this.use('ibv_query_pkey'), portNum, index);
  }

  /**
   * `ibv_query_gid_table`: the used entries of a port's GID table, or of all ports.
   *
   * @throws VerbsError EINVAL for a port that the device does not have
   * @example const sgidIndex = ctx.gidTable(1).find(({ type }) => type === GidType.ROCE_V2)?.index;
   */
  gidTable(portNum?: number): GidEntry[] {
    return queries.gidTable(this.use('ibv_query_gid_table'), portNum);
  }

  /**
   * The GID that a program wants as a rule, by `ibv_query_gid_table`: of RoCE v2, an IPv4 address before an IPv6 one and
   * that before a link-local one; RoCE v1 comes last. On hardware it is seldom index 0. It is the default of
   * `qp.connect`, `qp.endpoint` and `pd.createAh`.
   *
   * @param portNum default 1
   * @throws VerbsError EINVAL for a port that the device does not have, ENODATA if the port has no GID
   * @example
   * const { gid, index } = ctx.defaultGid();
   * console.log(`${gid} is GID ${index}`); // ::ffff:10.0.0.1 is GID 3
   */
  defaultGid(portNum = 1): GidEntry {
    return queries.defaultGid(this.use('ibv_query_gid_table'), portNum);
  }

  /**
   * `ibv_query_gid_ex`: one entry of the GID table, with its type and network interface.
   *
   * @throws VerbsError ENODATA (an empty entry), EINVAL (a port or an index that the device does not have)
   */
  queryGidEx(portNum: number, index: number): GidEntry {
    return queries.queryGidEx(this.use('ibv_query_gid_ex'), portNum, index);
  }

  /**
   * `ibv_get_pkey_index`: where a partition key (in host order) is in the port's table.
   *
   * @throws VerbsError EINVAL if it is not there, or the device has no such port
   */
  pkeyIndex(portNum: number, pkey: number): number {
    return queries.pkeyIndex(this.use('ibv_get_pkey_index'), portNum, pkey);
  }

  /**
   * `ibv_query_rt_values_ex`: the device's clock now, in ticks (`hcaCoreClock` kHz), as completion timestamps have it.
   *
   * @throws VerbsError EOPNOTSUPP where the device has no clock to read
   */
  queryRtValues(): {
    /** Ticks. */
    rawClock: bigint;
  } {
    return queries.queryRtValues(this.use('ibv_query_rt_values_ex'));
  }

  /**
   * `ibv_query_port_speed`, which libibverbs has since version 62: the port's present data rate, in 100 Mbit/s. Unlike
   * `activeSpeed` and `activeWidth` of {@link Context.queryPort} it may be any number, and of a virtual function behind
   * a bond it is the sum.
   *
   * @throws VerbsError EOPNOTSUPP with an older library, and where the device does not support it
   * @example const gigabits = Number(ctx.queryPortSpeed(1)) / 10;
   */
  queryPortSpeed(portNum: number): bigint {
    return queries.queryPortSpeed(this.use('ibv_query_port_speed'), portNum);
  }

  /** `ibv_context.cmd_fd`: the descriptor for {@link importDevice}. */
  get cmdFd(): number {
    return native.cmdFd(this.use('ibv_context.cmd_fd'));
  }

  /**
   * `ibv_init_ah_from_wc`: the address of a datagram's sender, for {@link ProtectionDomain.createAh}.
   *
   * @param grh the first 40 bytes of the receive buffer; needed if `wc.wcFlags` has GRH
   * @throws TypeError if they are needed and missing, or fewer than 40
   * @throws VerbsError EINVAL (no routing header, or one that was not sent to this port)
   * @example const ah = pd.createAh(ctx.initAhFromWc(1, wc, mr.bytes.subarray(0, 40)));
   */
  initAhFromWc(portNum: number, wc: ReceivedFrom, grh: Uint8Array | undefined): FullAhAttr {
    return queries.initAhFromWc(this.use('ibv_init_ah_from_wc'), portNum, wc, grh);
  }

  /**
   * `ibv_resolve_eth_l2_from_gid`: the peer's MAC address and VLAN (0 to 4095; 0xffff for none) behind a route.
   *
   * @throws VerbsError EINVAL (no route in `attr`, no such port or GID index), EHOSTUNREACH, EOPNOTSUPP
   */
  resolveEthL2FromGid(attr: AhAttr): {
    /** 6 bytes. */
    mac: Uint8Array;
    /** 0 to 4095; 0xffff for none. */
    vlanId: number;
  } {
    return queries.resolveEthL2FromGid(this.use('ibv_resolve_eth_l2_from_gid'), attr);
  }

  /**
   * `ibv_import_pd`: by the `pdHandle` of a protection domain of this device. `close()` is `ibv_unimport_pd`.
   *
   * @throws VerbsError ENOENT (there is none with that handle), EOPNOTSUPP
   */
  importPd(pdHandle: number): ProtectionDomain {
    const context = this.use('ibv_import_pd');
    integer(pdHandle, 'pdHandle', 0, 0xffffffff);
    const handle = checked(native.importPd(context, pdHandle), 'ibv_import_pd', { detail: `of handle ${pdHandle}` });
    return new ProtectionDomain(this, handle, [this], true);
  }

  /**
   * `ibv_alloc_td`: for {@link ProtectionDomain.allocParentDomain}.
   *
   * @throws VerbsError EOPNOTSUPP, ENOMEM
   */
  allocTd(): ThreadDomain {
    return new ThreadDomain(this, checked(native.allocTd(this.use('ibv_alloc_td')), 'ibv_alloc_td'));
  }

  /**
   * `ibv_open_xrcd`: a domain for XRC queue pairs and their shared receive queues.
   *
   * @param options `fd`: an open file that names the domain, so that other programs can open the same; without it they
   *   cannot. `exclusive` (O_EXCL): it must not exist yet
   * @throws VerbsError EOPNOTSUPP (a device without XRC), EBADF (no such descriptor), EEXIST (with `exclusive`), EINVAL
   * @example const xrcd = ctx.openXrcd();
   */
  openXrcd(options: { fd?: number; exclusive?: boolean } = {}): XrcDomain {
    const context = this.use('ibv_open_xrcd');
    const { fd, exclusive } = xrcdOptions(options, 'options');
    return new XrcDomain(this, checked(native.openXrcd(context, fd, exclusive), 'ibv_open_xrcd'));
  }

  /**
   * `ibv_alloc_dm`: memory on the device.
   *
   * @param length bytes, at most `maxDmSize` of `queryDeviceEx()`
   * @param options `logAlignment`: the alignment as a power of two, default 0
   * @throws VerbsError EOPNOTSUPP (a device without memory), ENOMEM (more than is left), EINVAL
   * @example const dm = ctx.allocDm(4096);
   */
  allocDm(length: number, options: { logAlignment?: number } = {}): DeviceMemory {
    const context = this.use('ibv_alloc_dm');
    integer(length, 'length', 1, Number.MAX_SAFE_INTEGER);
    const { logAlignment } = dmOptions(options, 'options');
    const made = checked(native.allocDm(context, length, logAlignment), 'ibv_alloc_dm', {
      detail: `of ${length} bytes`,
    });
    return new DeviceMemory(this, made, length, false);
  }

  /**
   * `ibv_import_dm`: by the `dmHandle` and the length of device memory. `close()` is `ibv_unimport_dm`.
   *
   * @throws VerbsError ENOENT (there is none with that handle), EOPNOTSUPP
   */
  importDm(dmHandle: number, length: number): DeviceMemory {
    const context = this.use('ibv_import_dm');
    integer(dmHandle, 'dmHandle', 0, 0xffffffff);
    integer(length, 'length', 1, Number.MAX_SAFE_INTEGER);
    const made = checked(native.importDm(context, dmHandle, length), 'ibv_import_dm');
    return new DeviceMemory(this, made, length, true);
  }

  /**
   * `ibv_alloc_dmah`, which libibverbs has since release 59: hints for the bus transfers of memory regions
   * ({@link ProtectionDomain.regMrEx}). The software NIC takes them, and has no bus to give them to.
   *
   * @throws VerbsError EOPNOTSUPP (a device without them, an older library), EINVAL (no `ph`, no such processor, `cpuId`
   *   without `tphMemType`)
   * @example const dmah = ctx.allocDmah({ ph: 2, cpuId: 0, tphMemType: TphMemType.VM });
   */
  allocDmah(attr: DmahInitAttr): DmaHandle {
    const syscall = 'ibv_alloc_dmah';
    const context = this.use(syscall);
    const { cpuId, ph, tphMemType } = dmahAttr(attr, 'attr');
    return new DmaHandle(this, checked<NativeHandle>(native.allocDmah(context, cpuId, ph, tphMemType), syscall));
  }

  /**
   * `ibv_create_counters`: for flows.
   *
   * @throws VerbsError EOPNOTSUPP where the device has none
   */
  createCounters(): Counters {
    const syscall = 'ibv_create_counters';
    return new Counters(this, checked(native.createCounters(this.use(syscall)), syscall));
  }

  /**
   * `ibv_query_comp_cntr_caps`: what completion counters of this device can do.
   *
   * @throws VerbsError EOPNOTSUPP where the device has none, and with a libibverbs before release 65
   */
  queryCompCntrCaps(): CompCntrCaps {
    const syscall = 'ibv_query_comp_cntr_caps';
    const caps = native.queryCompCntrCaps(this.use(syscall));
    return checked<CompCntrCaps>(typeof caps === 'number' ? -Math.abs(caps) : caps, syscall);
  }

  /**
   * `ibv_create_comp_cntr`: counts what completes on queue pairs ({@link QueuePair.attachCompCntr}).
   *
   * @param options `type`: work requests, the default, or bytes
   * @throws VerbsError EOPNOTSUPP where the device has none, and with a libibverbs before release 65; ENOMEM
   * @example using bytes = ctx.createCompCntr({ type: CompCntrType.BYTES });
   */
  createCompCntr(options: { type?: CompCntrType } = {}): CompletionCounter {
    const syscall = 'ibv_create_comp_cntr';
    const context = this.use(syscall);
    const { type } = compCntrOptions(options, 'options');
    const made = checked<NativeHandle>(native.createCompCntr(context, type), syscall);
    return new CompletionCounter(this, type, made);
  }

  /**
   * `ibv_create_rwq_ind_table`: the queues that a packet's hash chooses from, for `rwqIndTbl` of
   * {@link ProtectionDomain.createQp}.
   *
   * @param queues a power of two of them; one may stand in several places
   * @throws VerbsError EOPNOTSUPP, EINVAL (more than `maxRwqIndirectionTableSize` of `queryDeviceEx()`)
   */
  createRwqIndTable(queues: readonly ReceiveWorkQueue[]): IndirectionTable {
    this.use('ibv_create_rwq_ind_table');
    return new IndirectionTable(this, queues);
  }

  /**
   * `ibv_alloc_pd`.
   *
   * @throws VerbsError ENOMEM (more than the device has)
   * @example const pd = ctx.allocPd();
   */
  allocPd(): ProtectionDomain {
    return new ProtectionDomain(this, checked(native.allocPd(this.use('ibv_alloc_pd')), 'ibv_alloc_pd'));
  }

  /**
   * `ibv_create_comp_channel`: the events of completion queues, for queues that shall not share that of
   * the context.
   *
   * @throws VerbsError EMFILE (too many open files)
   * @example const cq = ctx.createCq(64, { channel: ctx.createCompChannel() });
   */
  createCompChannel(): CompletionChannel {
    const syscall = 'ibv_create_comp_channel';
    return new CompletionChannel(this, checked(native.createCompChannel(this.use(syscall)), syscall));
  }

  /**
   * `ibv_create_cq`, or `ibv_create_cq_ex` (and `ibv_cq_ex_to_cq`) with any of `wcFlags`, `flags` and `parentDomain`.
   *
   * Its completions can be awaited: its events go to `channel`, or to one that the queues of this context share. A
   * channel of its own saves a system call at each wake-up where a program awaits several queues.
   *
   * @param cqe the least number of entries: one for each request that may be outstanding, failing ones included
   * @throws VerbsError EINVAL (more than `maxCqe`, or no such vector), ENOMEM (more queues than the device has)
   * @example const cq = ctx.createCq(64);
   */
  createCq(cqe: number, options: CqOptions = {}): CompletionQueue {
    const context = this.use('ibv_create_cq');
    checkCqe(cqe);
    const { given, channel, compVector, extended } = nativeCqOptions(options, this);
    const syscall = extended === undefined ? 'ibv_create_cq' : 'ibv_create_cq_ex';
    const result = native.createCq(context, cqe, channel, compVector, extended);
    const { parentDomain } = given;
    const hint =
      result === -errno.EINVAL ? this.#cqReason(cqe, compVector, { channel: given.channel, parentDomain }) : undefined;
    const made = checked(result, syscall, { detail: `of ${cqe} entries`, hint });
    return new CompletionQueue(
      this,
      given.channel,
      made,
      extended && { wcFlags: Number(extended.wcFlags), parentDomain },
      given.spin,
    );
  }

  #cqReason(
    cqe: number,
    compVector: number,
    parts: Partial<Record<'channel' | 'parentDomain', { context: Context } | undefined>>,
  ): string | undefined {
    for (const [name, part] of Object.entries(parts))
      if (part !== undefined && part.context !== this) return `options.${name} is of another context`;
    const { maxCqe } = this.queryDevice();
    if (cqe > maxCqe) return `cqe is ${cqe}, above maxCqe of queryDevice(), ${maxCqe}`;
    const vectors = this.numCompVectors;
    return compVector < vectors ? undefined : `options.compVector is ${compVector}; the device has ${vectors}, from 0`;
  }

  /**
   * `ibv_get_async_event` and `ibv_ack_async_event`: the device's events as they come, until the context is closed or
   * the signal is aborted. It keeps the process alive meanwhile.
   *
   * @throws VerbsError with the library's errno if events cannot be read
   * @example for await (const { name, portNum } of ctx.asyncEvents()) console.log(name, portNum);
   */
  asyncEvents(options?: WaitOptions): AsyncGenerator<AsyncEvent, void, undefined> {
    return this.#events.iterate(signalOf(options));
  }

  /**
   * The same as Node.js events: each by its name (see {@link EventType}), and all of them as 'event'. Iterations have
   * them, too. As long as there is a listener the process stays alive.
   *
   * @example
   * ctx.events.on('PORT_ERR', ({ portNum }) => console.log(`port ${portNum} went down`));
   * ctx.events.on('event', ({ name, element }) => console.log(name, element));
   */
  get events(): DeviceEventEmitter {
    this.use('ibv_get_async_event');
    return this.#events.emitter;
  }

  /** @internal The completion channel of queues that are given none. */
  get [kEvents](): CompletionChannel {
    if (this.#channel === undefined || this.#channel.closed) this.#channel = this.createCompChannel();
    return this.#channel;
  }

  /** @internal Lets events find the object of an id; undefined forgets it. */
  [kElement](id: number, element: object | undefined): void {
    this.#events.element(id, element);
  }

  protected override onClosed(): void {
    this.#events.closed();
  }

  protected override describe() {
    const { name, guid, library } = this.device;
    return { name, guid: formatGuid(guid), library };
  }
}
