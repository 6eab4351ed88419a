import { constants } from 'node:buffer';
import { errno } from '../base/errno.js';
import { check, checked, VerbsError } from '../base/errors.js';
import { fields, flag, maybe, or, u31, u32, u53, u64, unchecked } from '../base/fields.js';
import { native, type NativeHandle, type NativeRegion } from '../base/native.js';
import { keepInPlace } from '../base/node-features.js';
import { U32 } from '../base/numbers.js';
import { elements, integer, typeError, valueError } from '../base/validate.js';
import { AccessFlags } from '../enums/index.js';
import { handleOf, type Resource } from '../lifetime/resource.js';
import type { ProtectionDomain } from '../types/objects.js';
import type { DeviceMemory } from './device-memory.js';
import type { DmaHandle } from './dma-handle.js';
import type { LibraryBuffer } from './library-buffer.js';
import { MemoryRegion } from './memory-region.js';
import { type Registrable, registrableBytes } from './registrable.js';

/** `struct ibv_mr_init_attr`: the region of {@link ProtectionDomain.regMrEx}. The memory is one of `view`, `buf` and `fd`. */
export interface MrInitAttr {
  /** {@link AccessFlags}, or-ed. */
  access: AccessFlags;
  /** Memory, as {@link ProtectionDomain.regMr} takes it. */
  view?: Registrable;
  /** As with {@link ProtectionDomain.regMr}: take memory that Node.js could move; default false. */
  unsafe?: boolean;
  /** A buffer of this protection domain. */
  buf?: LibraryBuffer;
  /** A dma-buf's descriptor. */
  fd?: number;
  /** With `buf` and `fd`: bytes from the start of the memory, default 0. */
  offset?: number;
  /** With `buf` and `fd`: bytes; default the rest of the buffer, and required with `fd`. */
  length?: number;
  /** The address by which `lkey` and `rkey` reach the first byte; default its own, with `fd` the `offset`. */
  iova?: bigint;
  /** Hints for the transfers. */
  dmah?: DmaHandle;
}

const NOTHING: Uint8Array = new Uint8Array(0);
const MANY = Number.MAX_SAFE_INTEGER;

const own = fields({ iova: maybe(u64()), shared: flag() });
const given = fields({ iova: maybe(u64()), unsafe: flag() });
const partOfDm = fields({ offset: or(u53(), 0), length: maybe(u53()) });
const partOfDmabuf = fields({ offset: or(u53(), 0), length: u53(1), iova: or(u64(), 0n) });
const mrInitAttr = fields({
  access: (value, path) => accessOf(value, path),
  view: unchecked,
  unsafe: flag(),
  buf: unchecked,
  fd: maybe(u31()),
  offset: maybe(u53()),
  length: maybe(u53(1)),
  iova: maybe(u64()),
  dmah: unchecked,
});
const advised = fields({ mr: unchecked, offset: or(u53(), 0), length: maybe(u32()) });

// The registering methods of a protection domain, whose native handle their caller has looked up.

export function allocMr(
  pd: ProtectionDomain,
  handle: NativeHandle,
  length: unknown,
  access: unknown,
  options: unknown,
) {
  const bytes = integer(length, 'length', 1, constants.MAX_LENGTH);
  const rights = accessOf(access);
  const { iova, shared } = own(options, 'options');
  const made = native.allocMr(handle, bytes, rights, iova, shared);
  if (made === undefined) return regMr(pd, handle, memoryOfTheHost(bytes), rights, { iova });
  const region = registered(made, bytes, rights);
  return new MemoryRegion(pd, region, { bytes: new Uint8Array(region.buffer), length: bytes, access: rights });
}

/**
 * Where an ArrayBuffer cannot have memory of an addon (in Electron, for instance), the adapter uses that of an ArrayBuffer.
 * Nothing is copied, but it must stay in its place.
 */
function memoryOfTheHost(bytes: number): ArrayBuffer {
  const buffer = new ArrayBuffer(bytes);
  if (keepInPlace(buffer)) return buffer;
  throw new VerbsError(errno.EOPNOTSUPP, 'ibv_reg_mr', {
    detail: `of ${bytes} bytes`,
    hint:
      'this host gives JavaScript no memory of an addon, and does not keep an ArrayBuffer in its place: ' +
      'use pd.regMr(new SharedArrayBuffer(length), access), which needs neither',
  });
}

export function regMr(pd: ProtectionDomain, handle: NativeHandle, view: unknown, access: unknown, options: unknown) {
  const rights = accessOf(access);
  const { iova, unsafe } = given(options, 'options');
  const bytes = registrableBytes(view, 'view', unsafe);
  const region = registered(native.regMr(handle, bytes, rights, iova), bytes.byteLength, rights);
  return new MemoryRegion(pd, region, { bytes, length: bytes.byteLength, access: rights });
}

/** The region, or the error; C says EINVAL to every mistake. */
function registered<T extends object>(result: T | number, bytes: number, rights: number): T {
  const hint = result === -errno.EINVAL ? accessReason(rights) : undefined;
  return checked(result, 'ibv_reg_mr', { detail: `of ${bytes} bytes`, hint });
}

/** Rights by which a peer changes the memory. */
const CHANGES = ['REMOTE_WRITE', 'REMOTE_ATOMIC'] as const;

/** Why `ibv_reg_mr` refused with EINVAL, if it is for the access. */
function accessReason(access: number): string | undefined {
  if ((access & AccessFlags.LOCAL_WRITE) !== 0) return undefined;
  const given = CHANGES.filter((name) => (access & AccessFlags[name]) !== 0);
  if (given.length === 0) return undefined;
  const names = given.map((name) => `AccessFlags.${name}`).join(' | ');
  return `access has ${names} without LOCAL_WRITE, which it needs: give AccessFlags.LOCAL_WRITE | ${names}`;
}

export function allocNullMr(pd: ProtectionDomain, handle: NativeHandle) {
  const region = checked(native.nullMr(handle), 'ibv_alloc_null_mr');
  return withoutBytes(pd, region, MANY, AccessFlags.LOCAL_WRITE);
}

export function regDmMr(pd: ProtectionDomain, handle: NativeHandle, dm: unknown, access: unknown, options: unknown) {
  const syscall = 'ibv_reg_dm_mr';
  const memory = handleOf(dm, 'DeviceMemory', 'dm', syscall);
  const whole = (dm as DeviceMemory).length;
  const rights = accessOf(access);
  const { offset, length = Math.max(0, whole - offset) } = partOfDm(options, 'options');
  const region = checked(native.regDmMr(handle, memory, offset, length, rights), syscall, {
    detail: `of ${length} bytes at ${offset} of ${whole}`,
  });
  return withoutBytes(pd, region, length, rights | AccessFlags.ZERO_BASED, [dm as DeviceMemory]);
}

export function regDmabufMr(pd: ProtectionDomain, handle: NativeHandle, fd: unknown, access: unknown, attr: unknown) {
  const syscall = 'ibv_reg_dmabuf_mr';
  const descriptor = integer(fd, 'fd', 0, 0x7fffffff);
  const rights = accessOf(access);
  const { offset, length, iova } = partOfDmabuf(attr, 'attr');
  const region = checked(native.regDmabufMr(handle, offset, length, iova, descriptor, rights), syscall);
  return withoutBytes(pd, region, length, rights);
}

export function regBufMr(pd: ProtectionDomain, handle: NativeHandle, buf: unknown, access: unknown, options: unknown) {
  const syscall = 'ibv_reg_buf_mr';
  const buffer = handleOf(buf, 'LibraryBuffer', 'buf', syscall);
  const whole = (buf as LibraryBuffer).length;
  const rights = accessOf(access);
  const { offset, length = Math.max(0, whole - offset) } = partOfDm(options, 'options');
  const region = checked(native.regBufMr(handle, buffer, offset, length, rights), syscall, {
    detail: `of ${length} bytes at ${offset} of ${whole}`,
  });
  return withoutBytes(pd, region, length, rights, [buf as LibraryBuffer]);
}

export function regMrEx(pd: ProtectionDomain, handle: NativeHandle, given: unknown) {
  const syscall = 'ibv_reg_mr_ex';
  const { view, unsafe, buf, fd, offset, length, access, iova, dmah } = mrInitAttr(given, 'attr');
  const [source, ...more] = [view, buf, fd].filter((each) => each !== undefined);
  if (source === undefined || more.length > 0) throw valueError('attr', 'needs one of view, buf and fd, and only one');
  if (view !== undefined && (offset !== undefined || length !== undefined)) {
    throw valueError('attr', 'has offset or length beside view, which is the memory and no more: give view.subarray()');
  }
  const others: Resource[] = [];
  const hints = dmah === undefined ? undefined : handleOf(dmah, 'DmaHandle', 'attr.dmah', syscall);
  if (dmah !== undefined) others.push(dmah as Resource);
  const registered = (memory: object, bytes: number, seen = NOTHING) => {
    const region = checked(native.regMrEx(handle, access, memory, iova, hints), syscall, {
      detail: `of ${bytes} bytes`,
    });
    return new MemoryRegion(pd, region, { bytes: seen, length: bytes, access, others });
  };
  if (view !== undefined) {
    const bytes = registrableBytes(view, 'attr.view', unsafe);
    return registered({ view: bytes }, bytes.byteLength, bytes);
  }
  const start = offset ?? 0;
  if (fd !== undefined) {
    if (length === undefined) throw typeError('attr.length', 'the number of bytes of the dma-buf', length);
    return registered({ fd, offset: start, length }, length);
  }
  const buffer = handleOf(buf, 'LibraryBuffer', 'attr.buf', syscall);
  others.push(buf as LibraryBuffer);
  const bytes = length ?? Math.max(0, (buf as LibraryBuffer).length - start);
  return registered({ buf: buffer, offset: start, length: bytes }, bytes);
}

const importOptions = fields({ addr: or(u64(), 0n) });

export function importMr(pd: ProtectionDomain, handle: NativeHandle, mrHandle: unknown, options: unknown) {
  const number = integer(mrHandle, 'mrHandle', 0, 0xffffffff);
  const { addr } = importOptions(options, 'options');
  const region = checked(native.importMr(handle, number, addr), 'ibv_import_mr', { detail: `of handle ${number}` });
  return new MemoryRegion(pd, region, { bytes: NOTHING, length: region.length, access: 0, imported: true });
}

export function adviseMr(handle: NativeHandle, advice: unknown, sgList: unknown, flags: unknown): void {
  const syscall = 'ibv_advise_mr';
  const kind = integer(advice, 'advice', 0, 0xffff);
  const options = integer(flags, 'flags', 0, 0x7fffffff);
  const list = elements(sgList, 'sgList', 'an array of { mr, offset, length }', 0xffff);
  const ranges = list.map((element, i): [NativeHandle, number, number] => {
    const { mr, offset, length } = advised(element, `sgList[${i}]`);
    const handle = handleOf(mr, 'MemoryRegion', `sgList[${i}].mr`, syscall);
    const rest = Math.max(0, (mr as MemoryRegion).length - offset);
    return [handle, offset, length ?? Math.min(U32, rest)];
  });
  check(-Math.abs(native.adviseMr(handle, kind, options, ranges)), syscall);
}

export function withoutBytes(
  pd: ProtectionDomain,
  region: NativeRegion,
  length: number,
  access: number,
  others: readonly Resource[] = [],
) {
  return new MemoryRegion(pd, region, { bytes: NOTHING, length, access, others });
}

/** Checks the access flags of any memory region. */
export function accessOf(access: unknown, path = 'access'): number {
  return integer(access, path, 0, 0x7fffffff);
}
