import { AddressHandle } from './address-handle.js';
import { type AhAttr, nativeAhAttr, publicAhAttr } from './ah-attr.js';
import type { Context } from './context.js';
import { PortFlags } from './device-enums.js';
import { checked, VerbsError } from './errors.js';
import { MemoryRegion } from './memory-region.js';
import { native, type NativeHandle } from './native.js';
import { nativeQpInitAttr, type QpInitAttr } from './qp-init-attr.js';
import { QueuePair } from './queue-pair.js';
import { registrableBytes, type Registrable } from './registrable.js';
import { Resource } from './resource.js';
import { boolean, integer } from './validate.js';

const NO_ROUTE = { dgid: new Uint8Array(16), flowLabel: 0, sgidIndex: 0, hopLimit: 0, trafficClass: 0 };

/**
 * `ibv_pd`: memory regions, queue pairs and address handles of one protection domain work together. Made by
 * {@link Context.allocPd}; `close()` is `ibv_dealloc_pd`.
 */
export class ProtectionDomain extends Resource {
  readonly context: Context;

  /** @internal */
  constructor(context: Context, handle: NativeHandle) {
    super('ProtectionDomain', handle, 'ibv_dealloc_pd', [context]);
    this.context = context;
  }

  /**
   * Memory of its own, page-aligned and zeroed, registered by `ibv_reg_mr`: the recommended way. The buffer stays
   * readable after `close()`.
   *
   * @param length bytes, at least 1
   * @param access {@link AccessFlags}, or-ed; reading by this side is always allowed
   * @throws VerbsError ENOMEM (no memory, or the limit of locked memory), EINVAL (access without LOCAL_WRITE)
   * @example
   * const mr = pd.allocMr(4096, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
   * mr.bytes.set(data);
   */
  allocMr(length: number, access: number): MemoryRegion {
    const pd = this.use('ibv_reg_mr');
    integer(length, 'length', 1, Number.MAX_SAFE_INTEGER);
    integer(access, 'access', 0, 0x7fffffff);
    const region = checked(native.allocMr(pd, length, access), 'ibv_reg_mr', { detail: `of ${length} bytes` });
    return new MemoryRegion(this, region, new Uint8Array(region.buffer), access);
  }

  /**
   * `ibv_reg_mr` of memory that is there already: a SharedArrayBuffer, memory of allocMr (for further permissions), or
   * a view of either. An ordinary ArrayBuffer is marked untransferable; where Node.js does not honour that for every
   * transfer, it is refused unless `unsafe` is true: then never transfer or detach it while it is registered.
   *
   * @param access {@link AccessFlags}, or-ed
   * @throws TypeError for other memory, also empty, detached and resizable buffers
   * @throws VerbsError EFAULT, ENOMEM, EINVAL
   */
  regMr(view: Registrable, access: number, options: { unsafe?: boolean } = {}): MemoryRegion {
    const pd = this.use('ibv_reg_mr');
    integer(access, 'access', 0, 0x7fffffff);
    const bytes = registrableBytes(view, 'view', boolean(options.unsafe, 'options.unsafe', false));
    const region = checked(native.regMr(pd, bytes, access), 'ibv_reg_mr', { detail: `of ${bytes.byteLength} bytes` });
    return new MemoryRegion(this, region, bytes, access);
  }

  /**
   * `ibv_create_qp`.
   *
   * @throws VerbsError EINVAL, ENOMEM (more than the device has), EOPNOTSUPP (a type that it does not have)
   * @example
   * const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 16, maxRecvWr: 16 } });
   */
  createQp(attr: QpInitAttr): QueuePair {
    const pd = this.use('ibv_create_qp');
    const init = nativeQpInitAttr(attr, 'attr');
    const made = checked(native.createQp(pd, init.sendCq, init.recvCq, init), 'ibv_create_qp');
    return new QueuePair(this, attr.sendCq, attr.recvCq, init.qpType, made);
  }

  /**
   * `ibv_create_ah`: the way to a peer for UD work requests.
   *
   * Ports with IBV_QPF_GRH_REQUIRED, which RoCE ports are, need `grh`.
   *
   * @throws TypeError, RangeError for a field that is missing, misspelt or out of its range, by its name
   * @throws VerbsError EINVAL (no such port, GID index or route), ENODATA (an empty GID index), ETIMEDOUT, ENETUNREACH
   * @example
   * const ah = pd.createAh({ portNum: 1, grh: { dgid: '::ffff:10.0.0.2', sgidIndex: 0, hopLimit: 64 } });
   */
  createAh(attr: AhAttr): AddressHandle {
    const pd = this.use('ibv_create_ah');
    const vector = nativeAhAttr(attr, 'attr');
    if (!vector.isGlobal && (this.context.queryPort(vector.portNum).flags & PortFlags.GRH_REQUIRED) !== 0) {
      throw new VerbsError(22, 'ibv_create_ah', {
        hint: `port ${vector.portNum} requires a global route: set attr.isGlobal to true and attr.grh with the dgid`,
      });
    }
    const { handle, id } = checked(native.createAh(pd, vector), 'ibv_create_ah');
    return new AddressHandle(this, handle, id, publicAhAttr({ grh: NO_ROUTE, ...vector }));
  }

  protected override describe() {
    return { context: this.context.device.name };
  }
}
