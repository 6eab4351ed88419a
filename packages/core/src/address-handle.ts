import type { FullAhAttr } from './ah-attr.js';
import type { NativeHandle } from './native.js';
import type { ProtectionDomain } from './protection-domain.js';
import { Resource } from './resource.js';
import { kRequestId } from './symbols.js';
import { brief } from './shown.js';

/**
 * `ibv_ah`: the way to a peer, for UD work requests of any queue pair of its protection domain. Made by
 * {@link ProtectionDomain.createAh}; `close()` is `ibv_destroy_ah`.
 */
export class AddressHandle extends Resource {
  /** The protection domain that it belongs to. */
  readonly pd: ProtectionDomain;
  /** What it was made with. */
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
