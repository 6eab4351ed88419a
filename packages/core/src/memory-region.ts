import { inspect } from 'node:util';
import { AccessFlags, flagNames } from './enums.js';
import type { NativeRegion } from './native.js';
import type { ProtectionDomain } from './protection-domain.js';
import { Resource } from './resource.js';
import { kRequestId } from './symbols.js';

/**
 * `ibv_mr`: memory that the adapter may use. Made by {@link ProtectionDomain.allocMr} or
 * {@link ProtectionDomain.regMr}; `close()` is `ibv_dereg_mr`. Memory of allocMr stays readable after it.
 */
export class MemoryRegion extends Resource {
  readonly pd: ProtectionDomain;
  /** The registered bytes. */
  readonly bytes: Uint8Array;
  /** The virtual address that a peer uses together with `rkey`. */
  readonly addr: bigint;
  /** Bytes. */
  readonly length: number;
  /** See {@link AccessFlags}. */
  readonly access: number;
  readonly lkey: number;
  /** What a peer needs to reach the memory. */
  readonly rkey: number;
  readonly #id: number;

  /** @internal */
  constructor(pd: ProtectionDomain, region: NativeRegion, bytes: Uint8Array, access: number) {
    super('MemoryRegion', region.handle, 'ibv_dereg_mr', [pd]);
    this.pd = pd;
    this.bytes = bytes;
    this.addr = region.addr;
    this.length = bytes.byteLength;
    this.access = access;
    this.lkey = region.lkey;
    this.rkey = region.rkey;
    this.#id = region.id;
  }

  /** The buffer that `bytes` lies in; with allocMr they are the whole of it. */
  get buffer(): ArrayBufferLike {
    return this.bytes.buffer;
  }

  /** @internal The name of the region in work requests. */
  get [kRequestId](): number {
    return this.#id;
  }

  protected override describe() {
    const hex = (value: number | bigint) => ({ [inspect.custom]: () => `0x${value.toString(16)}` });
    return {
      addr: hex(this.addr),
      length: this.length,
      access: flagNames(AccessFlags, this.access),
      lkey: hex(this.lkey),
      rkey: hex(this.rkey),
    };
  }
}
