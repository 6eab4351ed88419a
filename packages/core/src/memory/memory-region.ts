import { VerbsError } from '../base/errors.js';
import { fields, flag, maybe, u31, unchecked } from '../base/fields.js';
import { brief, flags, hex } from '../base/inspection.js';
import { native, type NativeRegion } from '../base/native.js';
import { kRequestId, kSerial } from '../base/symbols.js';
import { valueError } from '../base/validate.js';
import { deregistrations, registrations } from '../diagnostics/channels.js';
import { AccessFlags } from '../enums/index.js';
import { unwatchForLeak, watchForLeak } from '../lifetime/leak-warning.js';
import { handleOf, Resource } from '../lifetime/resource.js';
import type { ProtectionDomain } from '../types/objects.js';
import { type Registrable, registrableBytes } from './registrable.js';

/** The changes of {@link MemoryRegion.rereg}. Attributes that are left out stay. */
export interface ReregAttr {
  /** IBV_REREG_MR_CHANGE_PD: another protection domain of the same device. */
  pd?: ProtectionDomain;
  /** IBV_REREG_MR_CHANGE_TRANSLATION: other memory, as {@link ProtectionDomain.regMr} takes it. */
  view?: Registrable;
  /** As with {@link ProtectionDomain.regMr}: take memory that Node.js could move; default false. */
  unsafe?: boolean;
  /** IBV_REREG_MR_CHANGE_ACCESS, see {@link AccessFlags}. */
  access?: AccessFlags;
}

const changes = fields({
  pd: unchecked,
  view: unchecked,
  unsafe: flag(),
  access: maybe(u31()),
});

const TRANSLATION = 1 << 0;
const PD = 1 << 1;
const ACCESS = 1 << 2;

/** The registered memory; the library does not report it. */
interface Registered {
  bytes: Uint8Array;
  /** Stays although JavaScript may have detached the bytes. */
  length: number;
  access: number;
  imported?: boolean;
  /** What must not go first: device memory, the library's buffer, hints. */
  others?: readonly Resource[];
}

/**
 * `ibv_mr`: memory that the adapter may use. Created by {@link ProtectionDomain.allocMr} or
 * {@link ProtectionDomain.regMr}; `close()` is `ibv_dereg_mr`. Memory of allocMr stays readable after it.
 */
export class MemoryRegion extends Resource {
  #pd: ProtectionDomain;
  #region: NativeRegion;
  #registered: Registered;

  /** @internal */
  constructor(pd: ProtectionDomain, region: NativeRegion, registered: Registered) {
    const { imported, others = [] } = registered;
    const syscall = imported === true ? 'ibv_unimport_mr' : 'ibv_dereg_mr';
    super('MemoryRegion', region.handle, syscall, [pd, ...others]);
    this.#pd = pd;
    this.#region = region;
    this.#registered = registered;
    this.#watch();
    this.#publish(registrations);
  }

  /** Peers may hold the key of a region with rights for them. */
  #watch(): void {
    const { REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC } = AccessFlags;
    if ((this.access & (REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC)) === 0) unwatchForLeak(this);
    else watchForLeak(this, 'MemoryRegion', 'peers cannot reach its memory any more');
  }

  /** The protection domain that it belongs to; another one after `rereg`. */
  get pd(): ProtectionDomain {
    return this.#pd;
  }

  /** The registered bytes; none of a null region, of device memory, of a dma-buf, of a library's buffer, of an imported one. */
  get bytes(): Uint8Array {
    return this.#registered.bytes;
  }

  /** The address that a peer uses together with `rkey`: the bytes' own, or their `iova`. */
  get addr(): bigint {
    return this.#region.addr;
  }

  /** Bytes. */
  get length(): number {
    return this.#registered.length;
  }

  /** See {@link AccessFlags}. */
  get access(): number {
    return this.#registered.access;
  }

  /** `ibv_mr.lkey`: the key of scatter/gather elements. `sgList` takes the region itself. */
  get lkey(): number {
    return this.#region.lkey;
  }

  /** The key that a peer needs to reach the memory. */
  get rkey(): number {
    return this.#region.rkey;
  }

  /**
   * The region for a peer, as plain values that JSON can carry: the peer gives them to its requests as `remote`.
   *
   * @example console.log(JSON.stringify(mr.remote())); // {"addr":"0x7f12c8a00000","rkey":2816,"length":4096}
   */
  remote(): {
    /** `0x` and hexadecimal digits. */
    addr: string;
    /** The key, 32 bits. */
    rkey: number;
    /** Bytes. */
    length: number;
  } {
    return { addr: `0x${this.addr.toString(16)}`, rkey: this.rkey, length: this.length };
  }

  /** `ibv_mr.handle`: the number for {@link ProtectionDomain.importMr}. */
  get mrHandle(): number {
    return this.#region.mrHandle;
  }

  /** The buffer that `bytes` lies in; with allocMr they are the whole of it. */
  get buffer(): ArrayBufferLike {
    return this.bytes.buffer;
  }

  /**
   * `ibv_rereg_mr`: changes memory, protection domain or rights. No request that uses the region may be outstanding.
   * The keys may change.
   *
   * @throws VerbsError EINVAL, ENOMEM, EFAULT; the message says whether the region can still be used. If it cannot, it
   *   is closed.
   * @example mr.rereg({ access: AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ });
   */
  rereg(attr: ReregAttr): void {
    const syscall = 'ibv_rereg_mr';
    const mr = this.use(syscall);
    const { pd: domain, view, unsafe, access } = changes(attr, 'attr');
    const pd = domain === undefined ? undefined : handleOf(domain, 'ProtectionDomain', 'attr.pd', syscall);
    const bytes = view === undefined ? undefined : registrableBytes(view, 'attr.view', unsafe);
    const bit = (value: unknown, flag: number) => (value === undefined ? 0 : flag);
    const mask = bit(bytes, TRANSLATION) | bit(pd, PD) | bit(access, ACCESS);
    if (mask === 0) throw valueError('attr', 'changes nothing: give pd, view or access');
    const result = native.reregMr(mr, mask, pd, bytes, access);
    if (typeof result === 'number') throw new VerbsError(result, syscall);
    const [valid, errno, region] = Array.isArray(result) ? result : ([true, 0, result] as const);
    if (region === undefined) {
      if (!valid) this.close();
      throw new VerbsError(errno, syscall, {
        hint: valid ? 'the region is unchanged' : 'the region is lost and was closed: register the memory anew',
      });
    }
    this.#region = region;
    this.#registered = {
      ...this.#registered,
      ...(bytes && { bytes, length: bytes.byteLength }),
      ...(access !== undefined && { access }),
    };
    if (pd !== undefined) this.#moveTo(domain as ProtectionDomain);
    this.#watch();
    this.#publish(registrations);
    if (errno !== 0)
      throw new VerbsError(errno, syscall, { hint: 'the region has changed; a fork may not get the old memory' });
  }

  #publish(channel: typeof registrations): void {
    if (!channel.hasSubscribers) return;
    channel.publish({ id: this[kSerial], mr: this, length: this.length, access: this.access });
  }

  #moveTo(pd: ProtectionDomain): void {
    this.replaceParent(this.#pd, pd);
    this.#pd = pd;
  }

  protected override onClosed(): void {
    this.#publish(deregistrations);
  }

  /** @internal The name of the region in work requests. */
  get [kRequestId](): number {
    return this.#region.id;
  }

  protected override describe() {
    return {
      addr: hex(this.addr),
      length: this.length,
      access: flags(AccessFlags, this.access),
      lkey: hex(this.lkey),
      rkey: hex(this.rkey),
      pd: brief(this.pd),
    };
  }
}
