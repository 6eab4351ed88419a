import { errno } from '../base/errno.js';
import { checked, VerbsError } from '../base/errors.js';
import { fields, flag, unchecked } from '../base/fields.js';
import { brief } from '../base/inspection.js';
import { native, type NativeHandle } from '../base/native.js';
import { kHandle } from '../base/symbols.js';
import { integer } from '../base/validate.js';
import { type AccessFlags, type MrAdvice, type MrAdviceFlags, MwType, PortFlags, type QpType } from '../enums/index.js';
import { handleOf, Resource } from '../lifetime/resource.js';
import type { DeviceMemory } from '../memory/device-memory.js';
import { LibraryBuffer } from '../memory/library-buffer.js';
import type { MemoryRegion } from '../memory/memory-region.js';
import { MemoryWindow } from '../memory/memory-window.js';
import type { Registrable } from '../memory/registrable.js';
import * as registration from '../memory/registration.js';
import type { MrInitAttr } from '../memory/registration.js';
import { AddressHandle } from '../qp/address-handle.js';
import { nativeAhAttr, publicAhAttr } from '../qp/ah-attr.js';
import { nativeQpInitAttr, qpInitAttr, type QpInitAttr } from '../qp/qp-init-attr.js';
import { QueuePair } from '../qp/queue-pair.js';
import { ReceiveWorkQueue, type WqInitAttr } from '../qp/receive-work-queue.js';
import { type ReceivedFrom, receivedFrom } from '../qp/received-from.js';
import { SharedReceiveQueue, type SrqInitAttr } from '../qp/shared-receive-queue.js';
import { qpReason } from '../reasons/qp-reason.js';
import type { AhAttr } from '../types/ah-attr.js';
import type { Context } from '../types/objects.js';
import { addressHint } from './address-hint.js';
import * as queries from './queries.js';
import type { ThreadDomain } from './thread-domain.js';

const parentDomainAttr = fields({ td: unchecked, allowCcUnprotectedAlloc: flag() });
const NO_ROUTE = { dgid: new Uint8Array(16), flowLabel: 0, sgidIndex: 0, hopLimit: 0, trafficClass: 0 };

/**
 * `ibv_pd`: memory regions, queue pairs and address handles of one protection domain work together. Created by
 * {@link Context.allocPd}; `close()` is `ibv_dealloc_pd`.
 */
export class ProtectionDomain extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;

  /** @internal `others` are the parts of a parent domain. */
  constructor(context: Context, handle: NativeHandle, others: readonly Resource[] = [context], imported = false) {
    super('ProtectionDomain', handle, imported ? 'ibv_unimport_pd' : 'ibv_dealloc_pd', others);
    this.context = context;
  }

  /** `ibv_pd.handle`: the number for {@link Context.importPd}. */
  get pdHandle(): number {
    return native.pdHandle(this.use('ibv_pd.handle'));
  }

  /**
   * `ibv_alloc_parent_domain`: this protection domain, with what holds for the objects that are created in it.
   *
   * @param attr `td`: a thread domain. `allowCcUnprotectedAlloc`: in a guest whose memory is encrypted, `allocBuf` may
   *   allocate memory that is not, which the device reaches without copies of the kernel's; libibverbs has it since release 64
   * @throws VerbsError EOPNOTSUPP where the device has none, EINVAL
   * @example const mine = pd.allocParentDomain({ td: ctx.allocTd() });
   */
  allocParentDomain(attr: { td?: ThreadDomain; allowCcUnprotectedAlloc?: boolean } = {}): ProtectionDomain {
    const syscall = 'ibv_alloc_parent_domain';
    const pd = this.use(syscall);
    const { td, allowCcUnprotectedAlloc: unprotected } = parentDomainAttr(attr, 'attr');
    const domain = td === undefined ? undefined : handleOf(td, 'ThreadDomain', 'attr.td', syscall);
    const handle = checked(native.allocParentDomain(pd, domain, unprotected), syscall);
    return new ProtectionDomain(this.context, handle, td === undefined ? [this] : [this, td as ThreadDomain]);
  }

  /**
   * Memory of its own, page-aligned and zeroed, registered by `ibv_reg_mr` (`ibv_reg_mr_iova2` with `iova` or with the
   * optional flags of {@link AccessFlags}): the recommended way. The buffer stays readable after `close()`.
   *
   * @param length bytes, from 1 to `buffer.constants.MAX_LENGTH` of Node.js (4 GiB in version 20)
   * @param access {@link AccessFlags}, or-ed; reading by this side is always allowed
   * @param options `iova`: the address by which `lkey` and `rkey` reach the first byte; default its own. `shared`: memory
   *   that other processes of this host can map, registered by `ibv_reg_dmabuf_mr` where the device takes it, else as
   *   above. The software NIC does, and large messages from there to other processes take a plain copy (`link=shm`);
   *   small ones need no system calls. Up to 64 MiB its pages are allocated at once. Forked children share such memory, and `rereg`
   *   refuses it
   * @throws VerbsError ENOMEM (no memory, or the limit of locked memory), EINVAL (access without LOCAL_WRITE), EFBIG
   *   (`shared`, beyond the limit of a file's size)
   * @example
   * const mr = pd.allocMr(4096, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
   * mr.bytes.set(data);
   */
  allocMr(length: number, access: AccessFlags, options: { iova?: bigint; shared?: boolean } = {}): MemoryRegion {
    return registration.allocMr(this, this.use('ibv_reg_mr'), length, access, options);
  }

  /**
   * `ibv_reg_mr` of memory that is there already: a SharedArrayBuffer, memory of allocMr (for further permissions), or
   * a view of either. An ordinary ArrayBuffer is marked untransferable; where Node.js does not honour that for every
   * transfer, it is rejected unless `unsafe` is true: then never transfer or detach it while it is registered.
   *
   * @param access {@link AccessFlags}, or-ed
   * @param options `iova` as with allocMr
   * @throws TypeError for other memory, also empty, detached and resizable buffers
   * @throws VerbsError EFAULT (memory that is not there or not writable), ENOMEM, EINVAL (access without LOCAL_WRITE)
   * @example const mr = pd.regMr(new SharedArrayBuffer(4096), AccessFlags.LOCAL_WRITE);
   */
  regMr(view: Registrable, access: AccessFlags, options: { unsafe?: boolean; iova?: bigint } = {}): MemoryRegion {
    return registration.regMr(this, this.use('ibv_reg_mr'), view, access, options);
  }

  /**
   * `ibv_alloc_null_mr`: reads give zeros, writes are dropped. Only for this side's requests.
   *
   * @throws VerbsError EOPNOTSUPP where the device has none
   */
  allocNullMr(): MemoryRegion {
    return registration.allocNullMr(this, this.use('ibv_alloc_null_mr'));
  }

  /**
   * `ibv_reg_dm_mr`: device memory. The region is zero-based: its `addr` is 0.
   *
   * @param options `offset` and `length` in bytes, default all of it
   * @throws VerbsError EINVAL (outside of the device memory), EOPNOTSUPP
   */
  regDmMr(dm: DeviceMemory, access: AccessFlags, options: { offset?: number; length?: number } = {}): MemoryRegion {
    return registration.regDmMr(this, this.use('ibv_reg_dm_mr'), dm, access, options);
  }

  /**
   * `ibv_reg_dmabuf_mr`: memory of another device, by a dma-buf's descriptor.
   *
   * @param attr `offset` in the buffer, `length`, and `iova`, the address that the keys reach it by (default 0)
   * @throws VerbsError EOPNOTSUPP (the device takes no dma-bufs; the software NIC takes memory files that cannot shrink
   *   in their place), EBADF, EINVAL
   */
  regDmabufMr(fd: number, access: AccessFlags, attr: { offset?: number; length: number; iova?: bigint }): MemoryRegion {
    return registration.regDmabufMr(this, this.use('ibv_reg_dmabuf_mr'), fd, access, attr);
  }

  /**
   * `ibv_alloc_buf`, which libibverbs has since release 64: memory that the provider chooses. It is for guests whose memory is
   * encrypted, see {@link ProtectionDomain.allocParentDomain}; everywhere else {@link ProtectionDomain.allocMr} does more.
   *
   * @param length bytes
   * @throws VerbsError EOPNOTSUPP with an older library, ENOMEM
   * @example const buf = pd.allocBuf(4096);
   */
  allocBuf(length: number): LibraryBuffer {
    const syscall = 'ibv_alloc_buf';
    const pd = this.use(syscall);
    integer(length, 'length', 1, Number.MAX_SAFE_INTEGER);
    const handle = checked<NativeHandle>(native.allocBuf(pd, length), syscall, { detail: `of ${length} bytes` });
    return new LibraryBuffer(this, handle, length);
  }

  /**
   * `ibv_reg_buf_mr`: a buffer of {@link ProtectionDomain.allocBuf} of this protection domain.
   *
   * @param options `offset` and `length` in bytes, default all of it
   * @throws VerbsError EINVAL (outside of the buffer, another domain's, access without LOCAL_WRITE), EOPNOTSUPP
   * @example
   * const buf = pd.allocBuf(4096);
   * const mr = pd.regBufMr(buf, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
   */
  regBufMr(buf: LibraryBuffer, access: AccessFlags, options: { offset?: number; length?: number } = {}): MemoryRegion {
    return registration.regBufMr(this, this.use('ibv_reg_buf_mr'), buf, access, options);
  }

  /**
   * `ibv_reg_mr_ex`, which libibverbs has since release 59: `regMr`, `regDmabufMr` and `regBufMr` in one, with hints for the
   * bus.
   *
   * @throws TypeError unless `attr` has exactly one of `view`, `buf` and `fd`
   * @throws VerbsError EOPNOTSUPP with an older library, and the errors of those three
   * @example
   * using dmah = ctx.allocDmah({ ph: 2 });
   * const mr = pd.regMrEx({ view: new SharedArrayBuffer(4096), access: AccessFlags.LOCAL_WRITE, dmah });
   */
  regMrEx(attr: MrInitAttr): MemoryRegion {
    return registration.regMrEx(this, this.use('ibv_reg_mr_ex'), attr);
  }

  /**
   * `ibv_import_mr`: the region that another import of this device registered, by its `mrHandle`. The
   * exporter keeps its memory. `close()` is `ibv_unimport_mr`.
   *
   * @param options `addr`: the address that the keys are good for, `mr.addr` of the exporter, since the library does not tell
   *   it; default 0n, as regions with ZERO_BASED have
   * @throws VerbsError ENOENT (there is none with that handle), EOPNOTSUPP
   */
  importMr(mrHandle: number, options: { addr?: bigint | number } = {}): MemoryRegion {
    return registration.importMr(this, this.use('ibv_import_mr'), mrHandle, options);
  }

  /**
   * `ibv_advise_mr`: advice about the next use of regions with AccessFlags.ON_DEMAND.
   *
   * @param advice one of {@link MrAdvice}
   * @param flags see {@link MrAdviceFlags}; default 0
   * @throws VerbsError EOPNOTSUPP, EINVAL, EFAULT, ENOENT
   */
  adviseMr(
    advice: MrAdvice,
    sgList: readonly { mr: MemoryRegion; offset?: number; length?: number }[],
    flags: MrAdviceFlags = 0,
  ): void {
    registration.adviseMr(this.use('ibv_advise_mr'), advice, sgList, flags);
  }

  /**
   * `ibv_alloc_mw`: a window on a part of a region, which is bound later.
   *
   * @param type one of {@link MwType}, default TYPE_1
   * @throws VerbsError EOPNOTSUPP (a type that the device does not have), ENOMEM
   * @example const mw = pd.allocMw(MwType.TYPE_2);
   */
  allocMw(type: MwType = MwType.TYPE_1): MemoryWindow {
    const pd = this.use('ibv_alloc_mw');
    integer(type, 'type', MwType.TYPE_1, MwType.TYPE_2);
    return new MemoryWindow(this, type, checked(native.allocMw(pd, type), 'ibv_alloc_mw'));
  }

  /**
   * `ibv_create_qp`, or `ibv_create_qp_ex` for its further attributes (and `ibv_qp_to_qp_ex` with `sendOpsFlags`).
   *
   * @throws TypeError, RangeError for a field that is missing, misspelt or out of its range, by its name
   * @throws VerbsError EINVAL (a capacity above the device's, objects of other contexts), ENOMEM (more queue pairs than
   *   the device has), EOPNOTSUPP (a type that it does not have), EPERM (RAW_PACKET without CAP_NET_RAW)
   * @example
   * const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 16, maxRecvWr: 16 } });
   */
  createQp<const T extends QpType>(attr: QpInitAttr<T>): QueuePair<T> {
    const pd = this.use('ibv_create_qp');
    const given = qpInitAttr(attr, 'attr');
    const result = native.createQp(nativeQpInitAttr(given, 'attr', pd));
    const made = checked(result, 'ibv_create_qp', { hint: this.#whyNoQp(result, given) });
    return new QueuePair({ context: this.context, pd: this, attr: given, made });
  }

  #whyNoQp(result: unknown, { qpType, cap, sendCq, recvCq, srq }: QpInitAttr): string | undefined {
    if (result !== -errno.EINVAL && result !== -errno.ENOMEM) return undefined;
    const matchesTags = srq?.tagMatching !== undefined;
    return qpReason({ qpType, cap, context: this.context, parts: { sendCq, recvCq, srq: srq?.pd }, matchesTags });
  }

  /**
   * `ibv_create_srq`, or `ibv_create_srq_ex` for another type than BASIC.
   *
   * @throws VerbsError EINVAL (more than `maxSrqWr` or `maxSrqSge`), ENOMEM (more queues than the device has),
   *   EOPNOTSUPP
   * @example const srq = pd.createSrq({ maxWr: 256 });
   */
  createSrq(attr: SrqInitAttr): SharedReceiveQueue {
    this.use('ibv_create_srq');
    return new SharedReceiveQueue(this, attr);
  }

  /**
   * `ibv_create_wq`: a receive queue for {@link Context.createRwqIndTable}. It is in RESET: `modify` brings it to RDY.
   *
   * @throws VerbsError EOPNOTSUPP where the device has none, EINVAL, ENOMEM
   * @example
   * const wq = pd.createWq({ cq, maxWr: 256 });
   * wq.modify({ wqState: WqState.RDY });
   */
  createWq(attr: WqInitAttr): ReceiveWorkQueue {
    this.use('ibv_create_wq');
    return new ReceiveWorkQueue(this, attr);
  }

  /**
   * `ibv_create_ah`: the path to a peer for UD work requests.
   *
   * Ports with IBV_QPF_GRH_REQUIRED, which RoCE ports are, need `grh`.
   *
   * @throws TypeError, RangeError for a field that is missing, misspelt or out of its range, by its name
   * @throws VerbsError EINVAL (no such port, GID index or route), ENODATA (an empty GID index), ETIMEDOUT, ENETUNREACH
   * @example
   * const ah = pd.createAh({ portNum: 1, grh: { dgid: '::ffff:10.0.0.2' } });
   */
  createAh(attr: AhAttr): AddressHandle {
    const pd = this.use('ibv_create_ah');
    const vector = nativeAhAttr(attr, 'attr', (portNum) => this.#sourceGid(portNum));
    if (!vector.isGlobal && (this.context.queryPort(vector.portNum).flags & PortFlags.GRH_REQUIRED) !== 0) {
      throw new VerbsError(errno.EINVAL, 'ibv_create_ah', {
        hint: `port ${vector.portNum} requires a global route: give attr.grh with the dgid, and no isGlobal: false`,
      });
    }
    const attributes = publicAhAttr({ grh: NO_ROUTE, ...vector });
    const made = native.createAh(pd, vector);
    if (typeof made === 'number')
      throw new VerbsError(made, 'ibv_create_ah', { hint: addressHint(this.context, made, attributes) });
    return new AddressHandle(this, made.handle, made.id, attributes);
  }

  /** The default of `grh.sgidIndex`. Where there is none, `ibv_create_ah` says why. */
  #sourceGid(portNum: number): number {
    try {
      return this.context.defaultGid(portNum).index;
    } catch {
      return 0;
    }
  }

  /**
   * `ibv_create_ah_from_wc`: the address of a datagram's sender.
   *
   * @param grh the first 40 bytes of the receive buffer; needed if `wc.wcFlags` has GRH
   * @throws TypeError if they are needed and missing, or fewer than 40
   * @throws VerbsError EINVAL (a header that is none, or that was not sent to this port)
   * @example const ah = pd.createAhFromWc(wc, mr.bytes.subarray(0, 40), 1);
   */
  createAhFromWc(wc: ReceivedFrom, grh: Uint8Array | undefined, portNum: number): AddressHandle {
    const syscall = 'ibv_create_ah_from_wc';
    const pd = this.use(syscall);
    const { completion, header } = receivedFrom(wc, grh);
    integer(portNum, 'portNum', 1, 255);
    // The attributes first: the handle keeps the attributes of its creation.
    const attr = queries.initAhFromWc(this.context[kHandle], portNum, wc, grh, syscall);
    const { handle, id } = checked(native.createAhFromWc(pd, completion, header, portNum), syscall);
    return new AddressHandle(this, handle, id, attr);
  }

  protected override describe() {
    return { context: brief(this.context) };
  }
}
