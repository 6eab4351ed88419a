import { check } from '../base/errors.js';
import { uint8Array } from '../base/fields.js';
import { brief } from '../base/inspection.js';
import { native, type NativeHandle } from '../base/native.js';
import { integer } from '../base/validate.js';
import { Resource } from '../lifetime/resource.js';
import type { ProtectionDomain } from '../types/objects.js';

/**
 * `ibv_buf`: memory that the library or its provider allocates. Created by {@link ProtectionDomain.allocBuf}; `close()` is
 * `ibv_free_buf`, and closes its regions first. The memory goes with it, so JavaScript reaches it by copies.
 *
 * @example
 * const guest = pd.allocParentDomain({ allowCcUnprotectedAlloc: true });
 * const buf = guest.allocBuf(4096);
 * const mr = guest.regBufMr(buf, AccessFlags.LOCAL_WRITE);
 * buf.copyTo(0, data);
 */
export class LibraryBuffer extends Resource {
  /** The protection domain that it was allocated for, and that its regions belong to. */
  readonly pd: ProtectionDomain;
  /** Bytes. */
  readonly length: number;

  /** @internal */
  constructor(pd: ProtectionDomain, handle: NativeHandle, length: number) {
    super('LibraryBuffer', handle, 'ibv_free_buf', [pd]);
    this.pd = pd;
    this.length = length;
  }

  /**
   * Writes into the memory.
   *
   * @param offset bytes from its start
   * @throws VerbsError EINVAL if it reaches past the end
   */
  copyTo(offset: number, from: Uint8Array): void {
    const buf = this.use('memcpy');
    const bytes = uint8Array(from, 'from');
    integer(offset, 'offset', 0, Number.MAX_SAFE_INTEGER);
    check(native.copyToBuf(buf, offset, bytes), 'memcpy', this.#about(offset, bytes));
  }

  /**
   * Fills `to` from the memory.
   *
   * @param offset bytes from its start
   * @throws VerbsError EINVAL if it reaches past the end
   */
  copyFrom(offset: number, to: Uint8Array): void {
    const buf = this.use('memcpy');
    const bytes = uint8Array(to, 'to');
    integer(offset, 'offset', 0, Number.MAX_SAFE_INTEGER);
    check(native.copyFromBuf(buf, offset, bytes), 'memcpy', this.#about(offset, bytes));
  }

  /**
   * `ibv_export_buf_dmabuf_fd`, which libibverbs has since release 65: a dma-buf of the memory.
   *
   * @returns a descriptor, which the caller closes
   * @throws VerbsError ENODATA (the memory is no dma-buf; that of the software NIC never is), EOPNOTSUPP (an older library)
   */
  exportDmabufFd(): number {
    const syscall = 'ibv_export_buf_dmabuf_fd';
    const fd = native.exportBufFd(this.use(syscall));
    check(fd, syscall);
    return fd;
  }

  #about(offset: number, { byteLength }: Uint8Array) {
    return { detail: `of ${byteLength} bytes at ${offset} of ${this.length}` };
  }

  protected override describe() {
    return { length: this.length, pd: brief(this.pd) };
  }
}
