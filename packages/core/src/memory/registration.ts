import { constants } from 'node:buffer';
import type { DeviceMemory } from './device-memory.js';
import { AccessFlags } from '../enums/index.js';
import { check, checked } from '../base/errors.js';
import { MemoryRegion } from './memory-region.js';
import { native, type NativeHandle, type NativeRegion } from '../base/native.js';
import type { ProtectionDomain } from '../device/protection-domain.js';
import { registrableBytes } from './registrable.js';
import { handleOf } from '../lifetime/resource.js';
import { boolean, elements, integer, object, optional, u64 } from '../base/validate.js';

const NOTHING = new Uint8Array(0);
const MANY = Number.MAX_SAFE_INTEGER;

/** What the registering methods of a protection domain do, with the native handle that they looked up. */

export function allocMr(
  pd: ProtectionDomain,
  handle: NativeHandle,
  length: unknown,
  access: unknown,
  options: unknown,
) {
  const bytes = integer(length, 'length', 1, constants.MAX_LENGTH);
  const rights = accessOf(access);
  const { iova } = object(options, 'options', ['iova']);
  const region = checked(native.allocMr(handle, bytes, rights, iovaOf(iova)), 'ibv_reg_mr', {
    detail: `of ${bytes} bytes`,
  });
  return new MemoryRegion(pd, region, { bytes: new Uint8Array(region.buffer), length: bytes, access: rights });
}

export function regMr(pd: ProtectionDomain, handle: NativeHandle, view: unknown, access: unknown, options: unknown) {
  const rights = accessOf(access);
  const { iova, unsafe } = object(options, 'options', ['iova', 'unsafe']);
  const bytes = registrableBytes(view, 'view', boolean(unsafe, 'options.unsafe', false));
  const region = checked(native.regMr(handle, bytes, rights, iovaOf(iova)), 'ibv_reg_mr', {
    detail: `of ${bytes.byteLength} bytes`,
  });
  return new MemoryRegion(pd, region, { bytes, length: bytes.byteLength, access: rights });
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
  const given = object(options, 'options', ['offset', 'length']);
  const offset = optional(given['offset'], 'options.offset', MANY, 0);
  const length = optional(given['length'], 'options.length', MANY, Math.max(0, whole - offset));
  const region = checked(native.regDmMr(handle, memory, offset, length, rights), syscall, {
    detail: `of ${length} bytes at ${offset} of ${whole}`,
  });
  const made = { bytes: NOTHING, length, access: rights | AccessFlags.ZERO_BASED, dm: dm as DeviceMemory };
  return new MemoryRegion(pd, region, made);
}

export function regDmabufMr(pd: ProtectionDomain, handle: NativeHandle, fd: unknown, access: unknown, attr: unknown) {
  const syscall = 'ibv_reg_dmabuf_mr';
  const descriptor = integer(fd, 'fd', 0, 0x7fffffff);
  const rights = accessOf(access);
  const given = object(attr, 'attr', ['offset', 'length', 'iova']);
  const offset = optional(given['offset'], 'attr.offset', MANY, 0);
  const length = integer(given['length'], 'attr.length', 1, MANY);
  const iova = iovaOf(given['iova']) ?? 0n;
  const region = checked(native.regDmabufMr(handle, offset, length, iova, descriptor, rights), syscall);
  return withoutBytes(pd, region, length, rights);
}

export function importMr(pd: ProtectionDomain, handle: NativeHandle, mrHandle: unknown) {
  const number = integer(mrHandle, 'mrHandle', 0, 0xffffffff);
  const region = checked(native.importMr(handle, number), 'ibv_import_mr', { detail: `of handle ${number}` });
  return new MemoryRegion(pd, region, { bytes: NOTHING, length: region.length, access: 0, imported: true });
}

export function adviseMr(handle: NativeHandle, advice: unknown, sgList: unknown, flags: unknown): void {
  const syscall = 'ibv_advise_mr';
  const kind = integer(advice, 'advice', 0, 0xffff);
  const options = integer(flags, 'flags', 0, 0x7fffffff);
  const list = elements(sgList, 'sgList', 'an array of { mr, offset, length }', 0xffff);
  const ranges = list.map((element, i): [NativeHandle, number, number] => {
    const given = object(element, `sgList[${i}]`, ['mr', 'offset', 'length']);
    const mr = handleOf(given['mr'], 'MemoryRegion', `sgList[${i}].mr`, syscall);
    const whole = (given['mr'] as MemoryRegion).length;
    const offset = optional(given['offset'], `sgList[${i}].offset`, MANY, 0);
    const rest = Math.min(0xffffffff, Math.max(0, whole - offset));
    return [mr, offset, optional(given['length'], `sgList[${i}].length`, 0xffffffff, rest)];
  });
  check(-Math.abs(native.adviseMr(handle, kind, options, ranges)), syscall);
}

export function withoutBytes(pd: ProtectionDomain, region: NativeRegion, length: number, access: number) {
  return new MemoryRegion(pd, region, { bytes: NOTHING, length, access });
}

/** The access flags of a region, whatever it is made of, checked by name. */
export function accessOf(access: unknown): number {
  return integer(access, 'access', 0, 0x7fffffff);
}

function iovaOf(value: unknown): bigint | undefined {
  return value === undefined ? undefined : BigInt(u64(value, 'options.iova'));
}
