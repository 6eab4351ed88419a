import { brief } from '../base/inspection.js';
import type { NativeHandle } from '../base/native.js';
import { kRequestId } from '../base/symbols.js';
import { Resource } from '../lifetime/resource.js';
import type { FullAhAttr } from '../types/ah-attr.js';
import type { ProtectionDomain } from '../types/objects.js';

/**
 * `ibv_ah`: the path to a peer, for UD work requests of any queue pair of its protection domain. Created by
 * {@link ProtectionDomain.createAh}; `close()` is `ibv_destroy_ah`.
 */
export class AddressHandle extends Resource {
  /** The protection domain that it belongs to. */
  readonly pd: ProtectionDomain;
  /** The attributes of its creation. */
  readonly attr: Readonly<FullAhAttr>;
  readonly #id: number;

  /** @internal */
  constructor(pd: ProtectionDomain, handle: NativeHandle, id: number, attr: FullAhAttr) {
    super('AddressHandle', handle, 'ibv_destroy_ah', [pd]);
    this.pd = pd;
    this.attr = attr;
    this.#id = id;
  }

  /** @internal The name of the handle in work requests. */
  get [kRequestId](): number {
    return this.#id;
  }

  protected override describe() {
    const { isGlobal, portNum, dlid, grh } = this.attr;
    const way = isGlobal ? { dgid: grh.dgid, sgidIndex: grh.sgidIndex } : { dlid };
    return { portNum, ...way, pd: brief(this.pd) };
  }
}
