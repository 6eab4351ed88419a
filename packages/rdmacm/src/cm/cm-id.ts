import { isIP } from 'node:net';
import {
  type Context,
  type Ece,
  type EventType,
  type LibraryKind,
  type ProtectionDomain,
  type QpAttr,
  QpAttrMask,
  type QpInitAttr,
  QpState,
  QpType,
  type QueuePair,
  VerbsError,
  type WaitOptions,
} from '@verbs/core';
import {
  adoptQp,
  check,
  checked,
  errno,
  fields,
  gidText,
  handleOf,
  inspection,
  nativeQpInitAttr,
  or,
  publicQpAttr,
  range,
  Resource,
  setQueuePairState,
  signalOf,
  u32,
  u64,
  uint8Array,
  unlessAborted,
  validate,
} from '@verbs/core/provider';
import {
  AddrInfoFlags,
  type IbOption,
  type IdOption,
  type JoinFlags,
  type OptionLevel,
  type PortSpace,
} from '../base/enums.js';
import { native, type NativeId, type NativeIdState } from '../base/native.js';
import type { EventChannel } from '../base/objects.js';
import { kExpect, kMove, kRegister, kWatcher } from '../base/symbols.js';
import { type AddrInfo, type AddrInfoHints, getaddrinfo, lookupArguments, publicInfo } from './addr-info.js';
import type { CmEvent } from './cm-event.js';
import { type ConnParam, dataReason, nativeConnParam, privateData } from './conn-param.js';
import { contextOf } from './contexts.js';
import { publicPath, type Route } from './route.js';
import { type FullSocketAddress, nativeAddress, publicAddress, type SocketAddress } from './socket-address.js';

/** @internal Who gets the events of an identifier. */
export interface CmWatcher {
  onEvent(event: CmEvent): void;
  /** The channel cannot be read. */
  onFailure(error: unknown): void;
  onClosed(): void;
}

const S32 = 0x7fffffff;
const RESOLVE_TIMEOUT = 2000;

const ADDRINFO: ReadonlySet<CmEvent['name']> = new Set(['ADDRINFO_RESOLVED', 'ADDRINFO_ERROR']);
const userEvent = fields({ status: or(range(-0x80000000, S32), 0), arg: or(u64(), 0n) });
const ece = fields({ vendorId: u32(), options: u32() });

/**
 * `struct rdma_cm_id`: an end of a connection, a listener, or the lookup of a datagram service. Created by
 * {@link EventChannel.createId}, or by a peer's request; `close()` is `rdma_destroy_id`, closes the queue pair first, and
 * ends what is under way: a request is rejected, a connection is disconnected.
 *
 * Each method is the C function of its name. They start an operation; its outcome is an event of the channel. The
 * functions {@link connect} and {@link listen} do all of this by themselves.
 */
export class CmId extends Resource {
  readonly #key: number;
  #channel: EventChannel;
  #qp: QueuePair | undefined;
  /** The end of the last {@link CmId.resolveAddrinfo}. */
  #resolved: Promise<unknown> = Promise.resolve();
  /** @internal */
  [kWatcher]: CmWatcher | undefined;

  /** @internal */
  constructor(channel: EventChannel, made: NativeId) {
    super('CmId', made.handle, 'rdma_destroy_id', [channel]);
    this.#key = made.key;
    this.#channel = channel;
    channel[kRegister](made.key, this);
  }

  /** Where its events come. */
  get channel(): EventChannel {
    return this.#channel;
  }

  /** Whose librdmacm it is. */
  get library(): LibraryKind {
    return this.#channel.library;
  }

  /**
   * The device that it is bound to, after `bindAddr` to an address, after ADDR_RESOLVED, and of a request; else undefined.
   *
   * @example const pd = id.verbs?.allocPd();
   */
  get verbs(): Context | undefined {
    return contextOf(this.library, this.use('rdma_cm_id.verbs'));
  }

  /** The queue pair of {@link CmId.createQp}. */
  get qp(): QueuePair | undefined {
    return this.#qp?.closed === false ? this.#qp : undefined;
  }

  /** See {@link PortSpace}. */
  get ps(): PortSpace {
    return this.#state.ps;
  }

  /** The type of its queue pair: `QpType.RC` or `QpType.UD`. */
  get qpType(): QpType {
    return this.#state.qpType;
  }

  /** The port of the device, from 1; 0 before it is bound to one. */
  get portNum(): number {
    return this.#state.portNum;
  }

  /** `rdma_get_local_addr`; undefined before it has one. */
  get localAddr(): FullSocketAddress | undefined {
    return publicAddress(this.#state.localAddr);
  }

  /** `rdma_get_peer_addr`; undefined before it has one. */
  get peerAddr(): FullSocketAddress | undefined {
    return publicAddress(this.#state.peerAddr);
  }

  /** `rdma_get_src_port`. */
  get srcPort(): number {
    return this.#state.srcPort;
  }

  /** `rdma_get_dst_port`. */
  get dstPort(): number {
    return this.#state.dstPort;
  }

  /** `struct rdma_route`. */
  get route(): Route {
    const { sgid, dgid, pkey, paths } = this.#state;
    return { sgid: gidText(sgid), dgid: gidText(dgid), pkey, paths: paths.map(publicPath) };
  }

  /**
   * `rdma_bind_addr`: this side's address and port.
   *
   * @throws VerbsError EADDRINUSE (the port is taken at this address), EADDRNOTAVAIL (the same, for every address; or the
   *   system does not have the address), ENODEV (no device has it), EACCES (a port below 1024), EINVAL (it is bound already)
   * @example id.bindAddr({ port: 7471 });
   */
  bindAddr(address: SocketAddress): void {
    const id = this.use('rdma_bind_addr');
    const result = native.bindAddr(id, nativeAddress(address, 'address'));
    // The kernel says so of a port, too, where one of two identifiers is for every address.
    const { address: host = '::', port = 0 } = address;
    const taken = result === -errno.EADDRNOTAVAIL && ANY.includes(host) && port !== 0;
    const hint = taken
      ? `another identifier has port ${port}: choose another one, or set reuseAddr on both`
      : undefined;
    check(result, 'rdma_bind_addr', { ...detailOf(address), hint });
  }

  /**
   * `rdma_resolve_addr`: finds the device and the route to an address. The event is ADDR_RESOLVED or ADDR_ERROR.
   *
   * @param options `source`: this side's address; `timeout`: milliseconds, default 2000
   * @throws VerbsError ENODEV, EADDRNOTAVAIL, EINVAL (not in this state)
   * @example id.resolveAddr({ address: '192.0.2.1', port: 7471 });
   */
  resolveAddr(address: SocketAddress, options: { source?: SocketAddress; timeout?: number } = {}): void {
    const syscall = 'rdma_resolve_addr';
    const id = this.use(syscall);
    const { source, timeout } = validate.object(options, 'options', ['source', 'timeout']);
    const from = source === undefined ? undefined : nativeAddress(source, 'options.source');
    const wait = validate.optional(timeout, 'options.timeout', S32, RESOLVE_TIMEOUT);
    check(native.resolveAddr(id, from, nativeAddress(address, 'address'), wait), syscall, detailOf(address));
  }

  /**
   * `rdma_resolve_route`, after ADDR_RESOLVED. The event is ROUTE_RESOLVED or ROUTE_ERROR.
   *
   * @param options `timeout`: milliseconds, default 2000
   * @throws VerbsError EINVAL (not in this state)
   */
  resolveRoute(options: { timeout?: number } = {}): void {
    const id = this.use('rdma_resolve_route');
    const { timeout } = validate.object(options, 'options', ['timeout']);
    const wait = validate.optional(timeout, 'options.timeout', S32, RESOLVE_TIMEOUT);
    check(native.resolveRoute(id, wait), 'rdma_resolve_route');
  }

  /**
   * `rdma_resolve_addrinfo` and `rdma_query_addrinfo`, of release 60: as {@link getaddrinfo}, and with AddrInfoFlags.SA a
   * service by its InfiniBand name or number, of the device that the identifier is bound to. It waits for its event,
   * ADDRINFO_RESOLVED or ADDRINFO_ERROR, which nobody else gets. A second call waits for the event of the first one.
   *
   * @param node a name or an address; undefined for any, and with AddrInfoFlags.SA
   * @param service a port, or the name of a service; undefined for any
   * @throws VerbsError EOPNOTSUPP (an older library; a device without subnet administrator), ENOENT (not found), and the errors
   *   of {@link getaddrinfo}
   * @throws the reason of `signal` if it aborts
   * @example const [found] = await id.resolveAddrinfo('localhost', 7471);
   */
  async resolveAddrinfo(
    node: string | undefined,
    service?: string | number,
    hints: Omit<AddrInfoHints, 'library'> = {},
    options?: WaitOptions,
  ): Promise<AddrInfo[]> {
    const syscall = 'rdma_resolve_addrinfo';
    const signal = signalOf(options);
    this.use(syscall);
    const { port, given } = lookupArguments(node, service, hints);
    const detail = [node, port].filter((part) => part !== undefined).join(' ');
    // The C function asks the name server before it returns.
    const address = node === undefined || isIP(node) !== 0 ? node : await this.#addressOf(node, given);
    signal?.throwIfAborted();
    // The identifier has one result, and its events do not tell which call they are of: also the event of a call that the
    // program gives up comes before the next one begins.
    const resolved = this.#resolved.then(async () => {
      signal?.throwIfAborted();
      check(native.resolveAddrinfo(this.use(syscall), address, port, given), syscall, { detail });
      const event = await this.#channel[kExpect](this, ADDRINFO, syscall);
      if (event.name === 'ADDRINFO_ERROR') throw new VerbsError(event.status, syscall, { detail });
      const query = 'rdma_query_addrinfo';
      return checked(native.queryAddrinfo(this.use(query)), query).map(publicInfo);
    });
    this.#resolved = resolved.catch(() => undefined);
    return await unlessAborted(resolved, signal);
  }

  async #addressOf(name: string, hints: { flags: number; family: number }): Promise<string | undefined> {
    const [found] = await getaddrinfo(name, undefined, {
      library: this.library,
      flags: hints.flags & AddrInfoFlags.FAMILY,
      family: hints.family,
    });
    return found?.dstAddr?.address;
  }

  /**
   * `rdma_write_cm_event`, of release 60: an event USER of this identifier, in the order of the others.
   *
   * @param event `status` and `arg` come back in it: 32 bits with a sign, and 64 bits without; default 0
   * @throws VerbsError EOPNOTSUPP (an older library)
   * @example
   * id.writeCmEvent({ arg: 7n });
   * const { name, arg } = await channel.next(); // 'USER', 7n
   */
  writeCmEvent(event: { status?: number; arg?: bigint | number } = {}): void {
    const syscall = 'rdma_write_cm_event';
    const id = this.use(syscall);
    const { status, arg } = userEvent(event, 'event');
    check(native.writeCmEvent(id, status, arg), syscall);
  }

  /**
   * `rdma_create_qp`, as `rdma_create_qp_ex`, on the identifier: the connection manager brings it through its states. It can take receive
   * requests at once. `qp.close()` is `rdma_destroy_qp`. The type is that of the identifier if it is left out.
   *
   * @param pd of the context {@link CmId.verbs}
   * @throws VerbsError EINVAL (another device's protection domain, or there is a queue pair), ENOMEM
   * @example
   * const cap = { maxSendWr: 16, maxRecvWr: 16 };
   * const made = id.createQp(pd, { sendCq: cq, recvCq: cq, cap });
   */
  createQp<const T extends QpType = typeof QpType.RC>(
    pd: ProtectionDomain,
    attr: Omit<QpInitAttr<T>, 'qpType'> & { qpType?: T },
  ): QueuePair<T> {
    const syscall = 'rdma_create_qp';
    const id = this.use(syscall);
    const domain = handleOf(pd, 'ProtectionDomain', 'pd', syscall);
    if (typeof (attr as unknown) !== 'object' || (attr as unknown) === null) {
      throw validate.typeError('attr', 'an object', attr);
    }
    const full = { ...attr, qpType: attr.qpType ?? this.qpType } as QpInitAttr<T>;
    const made = checked(native.createQp(id, nativeQpInitAttr(full, 'attr', domain)), syscall);
    const qp = adoptQp(pd, full, made, this);
    this.#qp = qp;
    // The library has brought it there.
    setQueuePairState(qp, full.qpType === QpType.UD ? QpState.RTS : QpState.INIT);
    return qp;
  }

  /** `rdma_destroy_qp`: closes the queue pair of {@link CmId.createQp}. */
  destroyQp(): void {
    this.use('rdma_destroy_qp');
    this.qp?.close();
  }

  /**
   * `rdma_init_qp_attr`: the attributes for `qp.modify()` of a queue pair that was not made by {@link CmId.createQp}.
   *
   * @param qpState the state that they lead to: INIT, RTR or RTS
   * @throws VerbsError EINVAL (not in this state), EOPNOTSUPP (an older library)
   * @example qp.modify(id.initQpAttr(QpState.INIT));
   */
  initQpAttr(qpState: QpState): QpAttr {
    const syscall = 'rdma_init_qp_attr';
    const id = this.use(syscall);
    validate.integer(qpState, 'qpState', 0, 7);
    const { attr, mask } = checked(native.initQpAttr(id, qpState), syscall);
    const full = publicQpAttr(attr);
    const names = Object.entries(MASKED).filter(([, bit]) => (mask & bit) !== 0);
    return Object.fromEntries(names.map(([name]) => [name, full[name as keyof typeof full]]));
  }

  /**
   * `rdma_listen`: from now on requests for its address and port are events CONNECT_REQUEST.
   *
   * @param backlog how many requests may wait for the program; default 128
   * @throws VerbsError EINVAL (not bound), EADDRINUSE, EADDRNOTAVAIL
   */
  listen(backlog = 128): void {
    const id = this.use('rdma_listen');
    check(native.listen(id, validate.integer(backlog, 'backlog', 0, S32)), 'rdma_listen');
  }

  /**
   * `rdma_connect`, after ROUTE_RESOLVED: asks the peer to connect; of an identifier for datagrams, asks for the service.
   * The event is ESTABLISHED (without a queue pair CONNECT_RESPONSE), REJECTED, UNREACHABLE or CONNECT_ERROR.
   *
   * @throws VerbsError EINVAL (not in this state, or too much private data)
   * @example id.connect({ privateData: 'hello' });
   */
  connect(param?: ConnParam): void {
    const id = this.use('rdma_connect');
    const given = nativeConnParam(param, 'param');
    this.#checkMessage(native.connect(id, given), 'rdma_connect', given?.privateData);
  }

  /** `rdma_establish`: completes a connection after CONNECT_RESPONSE. @throws VerbsError EINVAL (not in this state) */
  establish(): void {
    check(native.establish(this.use('rdma_establish')), 'rdma_establish');
  }

  /**
   * `rdma_accept`, of the identifier of a request. The event is ESTABLISHED; a lookup has none.
   *
   * @throws VerbsError EINVAL (not in this state, too much private data, or no queue pair)
   */
  accept(param?: ConnParam): void {
    const id = this.use('rdma_accept');
    const given = nativeConnParam(param, 'param');
    this.#checkMessage(native.accept(id, given), 'rdma_accept', given?.privateData);
    if (this.qp?.qpType === QpType.RC) setQueuePairState(this.qp, QpState.RTS);
  }

  /**
   * `rdma_reject`, of the identifier of a request.
   *
   * @param data at most 148 bytes, or text (of a lookup 136)
   * @throws VerbsError EINVAL (not in this state, or too much private data)
   */
  reject(data?: Uint8Array | string): void {
    const bytes = privateData(data, 'data');
    this.#checkMessage(native.reject(this.use('rdma_reject'), bytes), 'rdma_reject', bytes);
  }

  /** `rdma_reject_ece`: rejects a request because its enhancements do not fit. @throws VerbsError EINVAL, EOPNOTSUPP */
  rejectEce(data?: Uint8Array | string): void {
    const bytes = privateData(data, 'data');
    this.#checkMessage(native.rejectEce(this.use('rdma_reject_ece'), bytes), 'rdma_reject_ece', bytes);
  }

  #checkMessage(result: number, syscall: Parameters<typeof dataReason>[0], data: Uint8Array | undefined): void {
    check(result, syscall, { hint: result < 0 ? dataReason(syscall, this.ps, data) : undefined });
  }

  /**
   * `rdma_disconnect`: ends the connection, and brings its queue pair into the state ERR. The event is DISCONNECTED, on
   * both sides.
   *
   * @throws VerbsError EINVAL (no connection)
   */
  disconnect(): void {
    check(native.disconnect(this.use('rdma_disconnect')), 'rdma_disconnect');
    if (this.qp !== undefined) setQueuePairState(this.qp, QpState.ERR);
  }

  /** `rdma_notify`: tells of an event of the queue pair: `EventType.COMM_EST`. @throws VerbsError EINVAL */
  notify(eventType: EventType): void {
    const id = this.use('rdma_notify');
    check(native.notify(id, validate.integer(eventType, 'eventType', 0, 0xff)), 'rdma_notify');
  }

  /**
   * `rdma_set_option`.
   *
   * @param level see {@link OptionLevel}
   * @param name see {@link IdOption}, {@link IbOption}
   * @param value the bytes of the C value; a number is an `int`, or one byte for TOS and ACK_TIMEOUT
   * @throws VerbsError EINVAL, ENOSYS (an option that the library does not know)
   * @example id.setOption(OptionLevel.ID, IdOption.REUSEADDR, 1);
   */
  setOption(level: OptionLevel, name: IdOption | IbOption, value: number | Uint8Array): void {
    const id = this.use('rdma_set_option');
    validate.integer(level, 'level', 0, S32);
    validate.integer(name, 'name', 0, S32);
    check(native.setOption(id, level, name, optionBytes(level, name, value)), 'rdma_set_option');
  }

  /**
   * `rdma_migrate_id`: its events come to another channel from now on.
   *
   * @throws VerbsError EINVAL (a channel of the other library)
   */
  migrate(channel: EventChannel): void {
    const syscall = 'rdma_migrate_id';
    const id = this.use(syscall);
    check(native.migrateId(id, handleOf(channel, 'EventChannel', 'channel', syscall)), syscall);
    this[kMove](channel);
  }

  /**
   * `rdma_join_multicast`, or `rdma_join_multicast_ex` with flags: the queue pair of {@link CmId.createQp} gets the
   * datagrams to a group. The event is MULTICAST_JOIN, with the address of the group, or MULTICAST_ERROR.
   *
   * @throws VerbsError EINVAL (not bound to a device)
   * @example id.joinMulticast({ address: '239.1.2.3' });
   */
  joinMulticast(address: SocketAddress, joinFlags?: JoinFlags): void {
    const syscall = 'rdma_join_multicast';
    const id = this.use(syscall);
    const flags = joinFlags === undefined ? undefined : validate.integer(joinFlags, 'joinFlags', 0, 0xffff);
    check(native.joinMulticast(id, nativeAddress(address, 'address'), flags), syscall, detailOf(address));
  }

  /** `rdma_leave_multicast`. @throws VerbsError EADDRNOTAVAIL (no member), EINVAL */
  leaveMulticast(address: SocketAddress): void {
    const syscall = 'rdma_leave_multicast';
    const id = this.use(syscall);
    check(native.leaveMulticast(id, nativeAddress(address, 'address')), syscall, detailOf(address));
  }

  /** `rdma_set_local_ece`: the enhancements to ask for, of a queue pair of the program's. @throws VerbsError EOPNOTSUPP */
  setLocalEce(options: Ece): void {
    const id = this.use('rdma_set_local_ece');
    const given = ece(options, 'options');
    check(native.setLocalEce(id, given.vendorId, given.options), 'rdma_set_local_ece');
  }

  /** `rdma_get_remote_ece`: the enhancements that the peer asks for. @throws VerbsError EOPNOTSUPP */
  getRemoteEce(): Ece {
    return checked(native.getRemoteEce(this.use('rdma_get_remote_ece')), 'rdma_get_remote_ece');
  }

  /** @internal */
  [kMove](channel: EventChannel): void {
    this.replaceParent(this.#channel, channel);
    this.#channel[kRegister](this.#key, undefined);
    this.#channel = channel;
    channel[kRegister](this.#key, this);
  }

  get #state(): NativeIdState {
    return native.queryId(this.use('rdma_cm_id'));
  }

  protected override onClosed(): void {
    this.#channel[kRegister](this.#key, undefined);
    const watcher = this[kWatcher];
    this[kWatcher] = undefined;
    watcher?.onClosed();
  }

  protected override describe() {
    const { library } = this;
    if (this.closed) return { library };
    const { localAddr, peerAddr } = this;
    return inspection.present({ library, localAddr, peerAddr, qp: this.qp && inspection.brief(this.qp) });
  }
}

/** The fields of the attributes by their bits; those of the alternate path are never among them. */
const MASKED: Partial<Record<keyof QpAttr, number>> = {
  qpState: QpAttrMask.STATE,
  pathMtu: QpAttrMask.PATH_MTU,
  qkey: QpAttrMask.QKEY,
  rqPsn: QpAttrMask.RQ_PSN,
  sqPsn: QpAttrMask.SQ_PSN,
  destQpNum: QpAttrMask.DEST_QPN,
  qpAccessFlags: QpAttrMask.ACCESS_FLAGS,
  pkeyIndex: QpAttrMask.PKEY_INDEX,
  portNum: QpAttrMask.PORT,
  ahAttr: QpAttrMask.AV,
  timeout: QpAttrMask.TIMEOUT,
  retryCnt: QpAttrMask.RETRY_CNT,
  rnrRetry: QpAttrMask.RNR_RETRY,
  maxRdAtomic: QpAttrMask.MAX_QP_RD_ATOMIC,
  maxDestRdAtomic: QpAttrMask.MAX_DEST_RD_ATOMIC,
  minRnrTimer: QpAttrMask.MIN_RNR_TIMER,
};

/** RDMA_OPTION_ID_TOS and RDMA_OPTION_ID_ACK_TIMEOUT are bytes. */
function optionBytes(level: number, name: number, value: unknown): Uint8Array {
  if (typeof value !== 'number') return uint8Array(value, 'value');
  if (level === 0 && (name === 0 || name === 3)) return Uint8Array.of(validate.integer(value, 'value', 0, 0xff));
  return new Uint8Array(Int32Array.of(validate.integer(value, 'value', 0, S32)).buffer);
}

const ANY: readonly string[] = ['0.0.0.0', '::'];

function detailOf({ address = 'any address', port }: SocketAddress): { detail: string } {
  return { detail: `${address}${port === undefined ? '' : ` port ${port}`}` };
}
