import { brief, hex, named, present } from '../base/inspection.js';
import { native, type NativeHandle } from '../base/native.js';
import { kRequestId } from '../base/symbols.js';
import { MwType } from '../enums/index.js';
import { Resource } from '../lifetime/resource.js';
import type { ProtectionDomain } from '../types/objects.js';

/**
 * `ibv_mw`: a part of a memory region that a peer may use, opened and closed by requests in a queue pair's send queue.
 * Created by {@link ProtectionDomain.allocMw}; `close()` is `ibv_dealloc_mw`.
 *
 * @example
 * const mw = pd.allocMw(MwType.TYPE_2);
 * const bindInfo = { mr, offset: 0, length: 64, access: AccessFlags.REMOTE_READ };
 * qp.postSend({ opcode: WrOpcode.BIND_MW, mw, rkey: mw.nextRkey(), bindInfo });
 */
export class MemoryWindow extends Resource {
  /** The protection domain that it belongs to. */
  readonly pd: ProtectionDomain;
  /** See {@link MwType}. */
  readonly mwType: MwType;
  readonly #id: number;

  /** @internal */
  constructor(pd: ProtectionDomain, mwType: MwType, made: { handle: NativeHandle; id: number }) {
    super('MemoryWindow', made.handle, 'ibv_dealloc_mw', [pd]);
    this.pd = pd;
    this.mwType = mwType;
    this.#id = made.id;
  }

  /** The key that a peer needs, as the last posted bind set it: `qp.bindMw` of type 1, a BIND_MW request of type 2. */
  get rkey(): number {
    return native.mwRkey(this.use('ibv_mw.rkey'));
  }

  /**
   * `ibv_inc_rkey`: an rkey for the next BIND_MW of a type 2 window: the present one with its lowest byte counted up.
   * The window has it (`rkey`) when that request was posted. Any other low byte will do as well: devices take only the
   * low byte from the request.
   */
  nextRkey(): number {
    const rkey = native.mwRkey(this.use('ibv_inc_rkey'));
    return ((rkey & ~0xff) | ((rkey + 1) & 0xff)) >>> 0;
  }

  /** @internal The name of the window in work requests. */
  get [kRequestId](): number {
    return this.#id;
  }

  protected override describe() {
    const rkey = this.closed ? undefined : hex(this.rkey);
    return present({ mwType: named(MwType, this.mwType), rkey, pd: brief(this.pd) });
  }
}
