import { constants } from 'node:buffer';
import { uint8Array, validate } from '@verbs/core/provider';
import { deviceOf } from '../base/device.js';
import type { Device } from '../base/device.js';
import { checked } from '../base/errors.js';
import { type MmapHandle, native } from '../base/native.js';

/** `enum doca_access_flag`: who may do what with the memory of an {@link Mmap}; values are combined by `|`. */
export const DocaAccess = {
  /** This side reads. */
  LOCAL_READ_ONLY: 0,
  /** This side reads and writes. */
  LOCAL_READ_WRITE: 1 << 0,
  /** The other side of the PCIe bus reads. */
  PCI_READ_ONLY: 1 << 4,
  /** The other side of the PCIe bus reads and writes. */
  PCI_READ_WRITE: 1 << 5,
} as const;

const mmaps = new WeakMap<ArrayBufferLike, Mmap>();

/** The memory that a view is of. @throws TypeError for other memory */
export function mmapOf(view: unknown, path: string): { mmap: Mmap; offset: number; length: number } {
  if (!(view instanceof Uint8Array)) throw validate.typeError(path, 'a Uint8Array over an Mmap', view);
  const mmap = mmaps.get(uint8Array(view, path).buffer);
  if (mmap === undefined) throw validate.valueError(path, 'must be a view of memory of allocMmap()');
  return { mmap, offset: view.byteOffset, length: view.byteLength };
}

/** Why a call refuses memory of that connection's end. `written`: what is received goes there. */
export function whyNotMemory(mmap: Mmap, device: Device, path: string, written = false): string {
  if (mmap.device !== device) return `${path} is memory of another device than the connection's`;
  return `${path} is memory that is closed${written ? ', or that nobody may write to: see its permissions' : ''}`;
}

/**
 * `doca_mmap`: memory that the fast path sends from and receives into. Views of it go to {@link Producer.send} and
 * {@link Consumer.post}; nothing is copied.
 */
export class Mmap implements Disposable {
  /** @internal */
  readonly handle: MmapHandle;
  /** The memory, zero at first; it stays readable after `close()`. */
  readonly buffer: ArrayBuffer;
  /** The device that may access it. */
  readonly device: Device;

  /** @internal Use `allocMmap`. */
  constructor(device: Device, made: { handle: MmapHandle; buffer: ArrayBuffer }) {
    this.device = device;
    this.handle = made.handle;
    this.buffer = made.buffer;
    mmaps.set(made.buffer, this);
  }

  /** `doca_mmap_destroy`. @throws DocaError IN_USE while a consumer or a transfer uses it */
  close(): void {
    checked(native.destroyMmap(this.handle), 'doca_mmap_destroy');
  }

  /** `using` closes it at the end of its block. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/**
 * `doca_mmap_create`, `_set_memrange`, `_add_dev` and `_start`: native memory, page-aligned, for that device. For the
 * software BlueField it is a memory file (`_set_dmabuf_memrange`), which both ends map: messages are copied once.
 *
 * @param length bytes, up to what one ArrayBuffer of Node.js can have (`buffer.constants.MAX_LENGTH`)
 * @param permissions see {@link DocaAccess}
 * @throws DocaError NOT_SUPPORTED without a fast path
 * @example
 * const device = openDevice('3b:00.0');
 * using mmap = allocMmap(device, 1 << 20);
 * const chunk = new Uint8Array(mmap.buffer, 0, 4096);
 */
export function allocMmap(
  device: Device,
  length: number,
  permissions: number = DocaAccess.LOCAL_READ_WRITE | DocaAccess.PCI_READ_WRITE,
): Mmap {
  const { handle, library } = deviceOf(device);
  validate.integer(length, 'length', 1, constants.MAX_LENGTH);
  validate.integer(permissions, 'permissions', 0, 0x7f);
  const made = native.createMmap(handle, length, permissions);
  const reason = library.comch?.fastPath;
  const both = (permissions & DocaAccess.PCI_READ_ONLY) !== 0 && (permissions & DocaAccess.PCI_READ_WRITE) !== 0;
  const wrong = both ? `permissions ${permissions} has both PCI_READ_ONLY and PCI_READ_WRITE` : undefined;
  const missing = reason === '' ? wrong : reason;
  return new Mmap(device, checked<{ handle: MmapHandle; buffer: ArrayBuffer }>(made, 'doca_mmap_create', missing));
}
