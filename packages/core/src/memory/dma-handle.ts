import { brief } from '../base/inspection.js';
import type { NativeHandle } from '../base/native.js';
import type { TphMemType } from '../enums/index.js';
import { Resource } from '../lifetime/resource.js';
import type { Context } from '../types/objects.js';

/** `struct ibv_dmah_init_attr`: the hints of {@link Context.allocDmah}. */
export interface DmahInitAttr {
  /** `cpu_id`: the processor whose cache shall have the data; comes with `tphMemType`. */
  cpuId?: number;
  /** `ph`: the processing hint of PCIe, 0 to 3: bidirectional, requester, target, target with priority. */
  ph?: number;
  /** `tph_mem_type`: the kind of the processor's memory, see {@link TphMemType}. */
  tphMemType?: TphMemType;
}

/**
 * `ibv_dmah`: hints for the bus transfers of memory regions (TPH of PCIe). Created by {@link Context.allocDmah} and given
 * to {@link ProtectionDomain.regMrEx}; `close()` is `ibv_dealloc_dmah`, and closes its regions first.
 */
export class DmaHandle extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;

  /** @internal */
  constructor(context: Context, handle: NativeHandle) {
    super('DmaHandle', handle, 'ibv_dealloc_dmah', [context]);
    this.context = context;
  }

  protected override describe() {
    return { context: brief(this.context) };
  }
}
