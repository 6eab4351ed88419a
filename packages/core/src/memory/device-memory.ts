import { check } from '../base/errors.js';
import { uint8Array } from '../base/fields.js';
import { brief } from '../base/inspection.js';
import { native, type NativeHandle } from '../base/native.js';
import { integer } from '../base/validate.js';
import { Resource } from '../lifetime/resource.js';
import type { Context } from '../types/objects.js';

/**
 * `ibv_dm`: memory on the device. Created by {@link Context.allocDm}; `close()` is `ibv_free_dm`.
 *
 * @example
 * const dm = ctx.allocDm(4096);
 * dm.copyTo(0, data);
 * const mr = pd.regDmMr(dm, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ);
 */
export class DeviceMemory extends Resource {
  /** The open device that it belongs to. */
  readonly context: Context;
  /** Bytes. */
  readonly length: number;
  /** The number for {@link Context.importDm}. */
  readonly dmHandle: number;

  /** @internal */
  constructor(context: Context, made: { handle: NativeHandle; dmHandle: number }, length: number, imported: boolean) {
    super('DeviceMemory', made.handle, imported ? 'ibv_unimport_dm' : 'ibv_free_dm', [context]);
    this.context = context;
    this.length = length;
    this.dmHandle = made.dmHandle;
  }

  /**
   * `ibv_memcpy_to_dm`: writes into the device memory.
   *
   * @param offset bytes from the start of the device memory; it and the length are multiples of 4
   * @throws VerbsError EINVAL otherwise, and if it reaches past the end
   */
  copyTo(offset: number, from: Uint8Array): void {
    const dm = this.use('ibv_memcpy_to_dm');
    integer(offset, 'offset', 0, Number.MAX_SAFE_INTEGER);
    check(
      -Math.abs(native.copyToDm(dm, offset, uint8Array(from, 'from'))),
      'ibv_memcpy_to_dm',
      this.#about(offset, from),
    );
  }

  /**
   * `ibv_memcpy_from_dm`: fills `to`.
   *
   * @param offset bytes from the start of the device memory; it and the length are multiples of 4
   * @throws VerbsError EINVAL otherwise, and if it reaches past the end
   */
  copyFrom(offset: number, to: Uint8Array): void {
    const dm = this.use('ibv_memcpy_from_dm');
    integer(offset, 'offset', 0, Number.MAX_SAFE_INTEGER);
    check(
      -Math.abs(native.copyFromDm(dm, offset, uint8Array(to, 'to'))),
      'ibv_memcpy_from_dm',
      this.#about(offset, to),
    );
  }

  /**
   * `ibv_dm_export_dmabuf_fd`, which libibverbs has since version 62: a dma-buf of the device memory, for
   * {@link ProtectionDomain.regDmabufMr} of another device.
   *
   * @returns a descriptor, which the caller closes
   * @throws VerbsError EOPNOTSUPP with an older library, and where the device cannot
   * @example
   * // `pd` is of the other device:
   * const fd = dm.exportDmabufFd();
   * const mr = pd.regDmabufMr(fd, AccessFlags.LOCAL_WRITE, { length: dm.length });
   */
  exportDmabufFd(): number {
    const syscall = 'ibv_dm_export_dmabuf_fd';
    const fd = native.exportDmFd(this.use(syscall));
    check(fd, syscall);
    return fd;
  }

  #about(offset: number, { byteLength }: Uint8Array) {
    return { detail: `of ${byteLength} bytes at ${offset} of ${this.length}` };
  }

  protected override describe() {
    const { length, dmHandle } = this;
    return { length, dmHandle, context: brief(this.context) };
  }
}
