import { closedError } from './errors.js';
import { WrOpcode } from './enums.js';
import { bindInfo } from './bind-info.js';
import { requestId, type Resource } from './resource.js';
import { kBound } from './symbols.js';
import { integer, optional, typeError, u64, valueError } from './validate.js';

// The layouts of native/binding/records.h.
const HEADER_BYTES = 8;
const SEND_BYTES = 80;
const RECV_BYTES = 16;
const SGE_BYTES = 16;
export const COMPLETION_BYTES = 64;
const ID_IS_NUMBER = 1;

const U32 = 0xffffffff;
const U24 = 0xffffff;
const HIGH = 0x1_0000_0000;

/** The opcodes that postSend carries. */
const opcodes = new Set<number>(Object.values(WrOpcode));

/** Work requests as bytes, one after the other, for one native call. It grows as needed and is used again. */
export class BatchWriter {
  bytes = new Uint8Array(4096);
  #view = new DataView(this.bytes.buffer);
  #end = HEADER_BYTES;

  reset(): void {
    this.#end = HEADER_BYTES;
  }

  /** What a post call left in the header. */
  get posted(): number {
    return this.#view.getUint32(0, true);
  }

  get badSge(): number {
    return this.#view.getUint32(4, true);
  }

  /** `ud`: the request needs an address; `xrc`: the number of a shared receive queue. */
  send(value: unknown, path: string, { ud, xrc }: { ud: boolean; xrc: boolean }): void {
    const wr = requestOf(value, path);
    const opcode = integer(wr['opcode'], `${path}.opcode`, 0, U32);
    if (!opcodes.has(opcode))
      throw valueError(`${path}.opcode`, `is ${opcode}, which postSend does not carry: see WrOpcode`);
    const list = listOf(wr['sgList'], path);
    const sendFlags = optional(wr['sendFlags'], `${path}.sendFlags`, U32, 0);
    const id = wr['wrId'] === undefined ? 0 : u64(wr['wrId'], `${path}.wrId`);
    const remote: Remote = { addr: 0, rkey: 0, compareAdd: 0, swap: 0, imm: 0, window: 0, region: 0 };
    readRemote(wr, opcode, path, remote);
    const address = ud ? addressOf(wr['ah'], path) : 0;
    const remoteQpn = ud ? integer(wr['remoteQpn'], `${path}.remoteQpn`, 0, U24) : 0;
    const remoteQkey = ud ? integer(wr['remoteQkey'], `${path}.remoteQkey`, 0, U32) : 0;
    const remoteSrqn = xrc ? integer(wr['remoteSrqn'], `${path}.remoteSrqn`, 0, U24) : 0;
    // All that runs the caller's code (getters) has run before the first byte is written, but for the elements.
    const at = this.#take(SEND_BYTES);
    const view = this.#view;
    putU64(view, at, id);
    putU64(view, at + 8, remote.addr);
    putU64(view, at + 16, remote.compareAdd);
    putU64(view, at + 24, remote.swap);
    view.setUint32(at + 32, opcode, true);
    view.setUint32(at + 36, sendFlags, true);
    view.setUint32(at + 40, remote.imm, true);
    view.setUint32(at + 44, remote.rkey, true);
    view.setUint32(at + 48, address, true);
    view.setUint32(at + 52, remoteQpn, true);
    view.setUint32(at + 56, remoteQkey, true);
    view.setUint32(at + 60, list.length, true);
    view.setUint32(at + 64, typeof id === 'number' ? ID_IS_NUMBER : 0, true);
    view.setUint32(at + 68, remoteSrqn, true);
    view.setUint32(at + 72, remote.window, true);
    view.setUint32(at + 76, remote.region, true);
    this.#elements(list, path);
  }

  recv(value: unknown, path: string): void {
    const wr = requestOf(value, path);
    const list = listOf(wr['sgList'], path);
    const id = wr['wrId'] === undefined ? 0 : u64(wr['wrId'], `${path}.wrId`);
    const at = this.#take(RECV_BYTES);
    putU64(this.#view, at, id);
    this.#view.setUint32(at + 8, list.length, true);
    this.#view.setUint32(at + 12, typeof id === 'number' ? ID_IS_NUMBER : 0, true);
    this.#elements(list, path);
  }

  #elements(list: readonly unknown[], path: string): void {
    const { length: count } = list;
    for (let i = 0; i < count; i++) {
      const sge = list[i];
      if (typeof sge !== 'object' || sge === null) throw typeError(`${path}.sgList[${i}]`, 'an object with mr', sge);
      const { mr, offset = 0, length } = sge as { mr: unknown; offset?: unknown; length?: unknown };
      const id = requestId(mr, 'MemoryRegion');
      if (id === undefined) throw typeError(`${path}.sgList[${i}].mr`, 'a MemoryRegion', mr);
      const region = mr as Resource & { length: number };
      if (region.closed) throw closedError(`MemoryRegion in ${path}.sgList[${i}].mr`, 'ibv_post');
      const start = integer(offset, `${path}.sgList[${i}].offset`, 0, Number.MAX_SAFE_INTEGER);
      const bytes =
        length === undefined
          ? Math.max(0, region.length - start)
          : integer(length, `${path}.sgList[${i}].length`, 0, U32);
      if (bytes > U32)
        throw valueError(
          `${path}.sgList[${i}].length`,
          'is missing, and the rest of the region is too long: at most 4294967295 bytes go in an element',
        );
      const at = this.#take(SGE_BYTES);
      putU64(this.#view, at, start);
      this.#view.setUint32(at + 8, id, true);
      this.#view.setUint32(at + 12, bytes, true);
    }
  }

  #take(size: number): number {
    const at = this.#end;
    this.#end += size;
    if (this.#end > this.bytes.byteLength) {
      const larger = new Uint8Array(Math.max(this.#end, 2 * this.bytes.byteLength));
      larger.set(this.bytes);
      this.bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    return at;
  }
}

interface Remote {
  addr: bigint | number;
  rkey: number;
  compareAdd: bigint | number;
  swap: bigint | number;
  imm: number;
  window: number;
  region: number;
}

function readRemote(wr: Record<string, unknown>, opcode: number, path: string, remote: Remote): void {
  switch (opcode) {
    case WrOpcode.SEND:
      return;
    case WrOpcode.SEND_WITH_IMM:
      remote.imm = integer(wr['immData'], `${path}.immData`, 0, U32);
      return;
    case WrOpcode.SEND_WITH_INV:
    case WrOpcode.LOCAL_INV:
      remote.imm = integer(wr['invalidateRkey'], `${path}.invalidateRkey`, 0, U32);
      return;
    case WrOpcode.RDMA_WRITE_WITH_IMM:
      remote.imm = integer(wr['immData'], `${path}.immData`, 0, U32);
      break;
    case WrOpcode.ATOMIC_CMP_AND_SWP:
      remote.compareAdd = u64(wr['compare'], `${path}.compare`);
      remote.swap = u64(wr['swap'], `${path}.swap`);
      break;
    case WrOpcode.BIND_MW:
      readBind(wr, path, remote);
      return;
    case WrOpcode.ATOMIC_FETCH_AND_ADD:
      remote.compareAdd = u64(wr['add'], `${path}.add`);
      break;
    default:
      break;
  }
  remote.addr = u64(wr['remoteAddr'], `${path}.remoteAddr`);
  remote.rkey = integer(wr['rkey'], `${path}.rkey`, 0, U32);
}

function readBind(wr: Record<string, unknown>, path: string, remote: Remote): void {
  const mw = wr['mw'];
  const window = requestId(mw, 'MemoryWindow');
  if (window === undefined) throw typeError(`${path}.mw`, 'a MemoryWindow', mw);
  if ((mw as Resource).closed) throw closedError(`MemoryWindow in ${path}.mw`, 'ibv_post_send');
  remote.window = window;
  remote.rkey = integer(wr['rkey'], `${path}.rkey`, 0, U32);
  const bind = bindInfo(wr['bindInfo'], `${path}.bindInfo`);
  remote.imm = bind.access;
  remote.region = bind.region;
  remote.addr = bind.offset;
  remote.compareAdd = bind.length;
  if (bind.region !== 0) (mw as { [kBound](): void })[kBound]();
}

function addressOf(value: unknown, path: string): number {
  const id = requestId(value, 'AddressHandle');
  if (id === undefined)
    throw typeError(`${path}.ah`, 'an AddressHandle, as every request of a UD queue pair has', value);
  if ((value as Resource).closed) throw closedError(`AddressHandle in ${path}.ah`, 'ibv_post_send');
  return id;
}

function requestOf(value: unknown, path: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw typeError(path, 'a work request', value);
  return value as Record<string, unknown>;
}

const NONE: readonly unknown[] = [];

function listOf(value: unknown, path: string): readonly unknown[] {
  if (value === undefined) return NONE;
  if (!Array.isArray(value)) throw typeError(`${path}.sgList`, 'an array of { mr, offset, length }', value);
  return value as readonly unknown[];
}

function putU64(view: DataView, at: number, value: bigint | number): void {
  if (typeof value === 'bigint') {
    view.setBigUint64(at, value, true);
  } else {
    view.setUint32(at, value >>> 0, true);
    view.setUint32(at + 4, Math.floor(value / HIGH), true);
  }
}
