import { closedError } from '../base/errors.js';
import { HIGH, U24, U32 } from '../base/numbers.js';
import { ID_IS_NUMBER, RECV, SEND, SGE, WRITTEN } from '../base/records.js';
import { integer, typeError, valueError } from '../base/validate.js';
import { enumName, SelectivityLevel, WrOpcode } from '../enums/index.js';
import { requestId, type Resource } from '../lifetime/resource.js';
import { bindInfo } from '../memory/bind-info.js';
import { remoteRegion } from './remote-region.js';
import { pathText, type RequestPath, u32Field, u64Field } from './request-path.js';

/** The largest cap.maxSendSge. */
const MAX_SGE = 0xffff;
/** The opcodes that postSend carries. */
const opcodes = new Set<number>(Object.values(WrOpcode));

/** Where the records of work requests are written. */
export interface RecordSpace {
  /** A view of all the space. `take` may replace it. */
  readonly view: DataView;
  /** Reserves the next `bytes` bytes and returns their offset. */
  take(bytes: number): number;
  /** Keeps an object alive that a request uses. */
  hold(object: Resource): void;
}

/** `ud`: the request needs an address; `xrc`: the number of a shared receive queue. */
export interface QueueKind {
  ud: boolean;
  xrc: boolean;
}

/** Fields that stand in the place of the program's. */
export interface OwnFields {
  wrId: bigint | number;
  sendFlags: number;
}

/** Without `kind` the queue is not known yet, and the request's own fields decide. */
export function writeSend(
  space: RecordSpace,
  value: unknown,
  path: RequestPath,
  kind?: QueueKind,
  own?: OwnFields,
): void {
  const wr = requestOf(value, path);
  refuseUnknown(wr, path);
  const opcode = u32Field(wr, 'opcode', path);
  if (!opcodes.has(opcode))
    throw valueError(`${pathText(path)}.opcode`, `is ${opcode}, which postSend does not carry: see WrOpcode`);
  const { ud, xrc } = kind ?? kindOf(wr, opcode, path);
  const list = listOf(wr['sgList'], path);
  const sendFlags = own === undefined ? sendFlagsOf(wr, path) : own.sendFlags;
  const id = own === undefined ? idOf(wr, path) : own.wrId;
  const remote: Remote = { addr: 0, rkey: 0, compareAdd: 0, swap: 0, imm: 0, window: 0, region: 0 };
  readRemote(wr, opcode, path, remote);
  const address = ud ? addressOf(space, wr['ah'], path) : 0;
  const remoteQpn = ud ? u32Field(wr, 'remoteQpn', path, U24) : 0;
  const remoteQkey = ud ? u32Field(wr, 'remoteQkey', path) : 0;
  const remoteSrqn = xrc ? u32Field(wr, 'remoteSrqn', path, U24) : 0;
  // The getters of the request have run before the first byte is written; those of the elements run later.
  const at = space.take(SEND.BYTES);
  const { view } = space;
  putU64(view, at + SEND.WR_ID, id);
  putU64(view, at + SEND.REMOTE_ADDR, remote.addr);
  putU64(view, at + SEND.COMPARE_ADD, remote.compareAdd);
  putU64(view, at + SEND.SWAP, remote.swap);
  view.setUint32(at + SEND.OPCODE, opcode, true);
  view.setUint32(at + SEND.SEND_FLAGS, sendFlags, true);
  view.setUint32(at + SEND.IMM_DATA, remote.imm, true);
  view.setUint32(at + SEND.RKEY, remote.rkey, true);
  view.setUint32(at + SEND.ADDRESS_HANDLE, address, true);
  view.setUint32(at + SEND.REMOTE_QPN, remoteQpn, true);
  view.setUint32(at + SEND.REMOTE_QKEY, remoteQkey, true);
  view.setUint32(at + SEND.NUM_SGE, list.length, true);
  view.setUint32(at + SEND.FLAGS, flagsFor(id), true);
  view.setUint32(at + SEND.REMOTE_SRQN, remoteSrqn, true);
  view.setUint32(at + SEND.MEMORY_WINDOW, remote.window, true);
  view.setUint32(at + SEND.MEMORY_REGION, remote.region, true);
  writeElements(space, list, path);
}

function kindOf(wr: Record<string, unknown>, opcode: number, path: RequestPath): QueueKind {
  if (opcode === WrOpcode.BIND_MW)
    throw valueError(
      `${pathText(path)}.opcode`,
      'is BIND_MW, which goes by postSend only: its rkey is another each time',
    );
  return { ud: wr['ah'] !== undefined, xrc: wr['remoteSrqn'] !== undefined };
}

function sendFlagsOf(wr: Record<string, unknown>, path: RequestPath): number {
  return wr['sendFlags'] === undefined ? 0 : u32Field(wr, 'sendFlags', path);
}

function idOf(wr: Record<string, unknown>, path: RequestPath): bigint | number {
  return wr['wrId'] === undefined ? 0 : u64Field(wr, 'wrId', path);
}

/** `wrId` stands in the place of the program's. */
export function writeRecv(space: RecordSpace, value: unknown, path: RequestPath, wrId?: bigint): void {
  const wr = requestOf(value, path);
  for (const name in wr) if (name !== 'wrId' && name !== 'sgList') unknownField(wr, name, path, 'wrId, sgList');
  const list = listOf(wr['sgList'], path);
  const id = wrId ?? idOf(wr, path);
  const at = space.take(RECV.BYTES);
  putU64(space.view, at + RECV.WR_ID, id);
  space.view.setUint32(at + RECV.NUM_SGE, list.length, true);
  space.view.setUint32(at + RECV.FLAGS, flagsFor(id), true);
  writeElements(space, list, path);
}

function writeElements(space: RecordSpace, list: readonly unknown[], path: RequestPath): void {
  const { length: count } = list;
  if (count > MAX_SGE)
    throw valueError(`${pathText(path)}.sgList`, `has ${count} elements; at most ${MAX_SGE} are possible`);
  for (let i = 0; i < count; i++) {
    const sge = list[i];
    if (typeof sge !== 'object' || sge === null)
      throw typeError(`${pathText(path)}.sgList[${i}]`, 'an object with mr', sge);
    const { mr, offset, length } = sge as { mr: unknown; offset?: unknown; length?: unknown };
    // A misspelt name would move other bytes.
    if (offset === undefined || length === undefined) checkElement(sge, path, i);
    const id = requestId(mr, 'MemoryRegion');
    if (id === undefined) throw typeError(`${pathText(path)}.sgList[${i}].mr`, 'a MemoryRegion', mr);
    const region = mr as Resource & { length: number };
    if (region.closed) throw closedError(`MemoryRegion in ${pathText(path)}.sgList[${i}].mr`, 'ibv_post');
    const start = offset === undefined ? 0 : inElement(offset, 'offset', Number.MAX_SAFE_INTEGER, path, i);
    const bytes = length === undefined ? Math.max(0, region.length - start) : inElement(length, 'length', U32, path, i);
    if (bytes > U32)
      throw valueError(
        `${pathText(path)}.sgList[${i}].length`,
        'is missing, and the rest of the region is too long: at most 4294967295 bytes go in an element',
      );
    const at = space.take(SGE.BYTES);
    putU64(space.view, at + SGE.OFFSET, start);
    space.view.setUint32(at + SGE.MEMORY_REGION, id, true);
    space.view.setUint32(at + SGE.LENGTH, bytes, true);
    space.hold(region);
  }
}

function checkElement(sge: object, path: RequestPath, i: number): void {
  for (const name in sge) {
    if (name === 'mr' || name === 'length' || name === 'offset' || !Object.hasOwn(sge, name)) continue;
    throw valueError(`${pathText(path)}.sgList[${i}].${name}`, 'is not known here; known are mr, offset, length');
  }
}

function inElement(value: unknown, name: string, max: number, path: RequestPath, i: number): number {
  if (typeof value === 'number' && value >= 0 && value <= max && Number.isSafeInteger(value)) return value;
  return integer(value, `${pathText(path)}.sgList[${i}].${name}`, 0, max);
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

function readRemote(wr: Record<string, unknown>, opcode: number, path: RequestPath, remote: Remote): void {
  switch (opcode) {
    case WrOpcode.SEND:
      return;
    case WrOpcode.SEND_WITH_IMM:
      remote.imm = u32Field(wr, 'immData', path);
      return;
    case WrOpcode.SEND_WITH_INV:
    case WrOpcode.LOCAL_INV:
      remote.imm = u32Field(wr, 'invalidateRkey', path);
      return;
    case WrOpcode.RDMA_WRITE_WITH_IMM:
      remote.imm = u32Field(wr, 'immData', path);
      break;
    case WrOpcode.ATOMIC_CMP_AND_SWP:
      remote.compareAdd = u64Field(wr, 'compare', path);
      remote.swap = u64Field(wr, 'swap', path);
      break;
    case WrOpcode.BIND_MW:
      readBind(wr, path, remote);
      return;
    case WrOpcode.FLUSH:
      readFlush(wr, path, remote);
      break;
    case WrOpcode.ATOMIC_FETCH_AND_ADD:
      remote.compareAdd = u64Field(wr, 'add', path);
      break;
    default:
      break;
  }
  if (wr['remote'] !== undefined) {
    if (wr['remoteAddr'] !== undefined)
      throw valueError(`${pathText(path)}.remote`, 'and remoteAddr exclude each other: give one');
    const region = remoteRegion(wr, path);
    remote.addr = region.addr;
    remote.rkey = region.rkey;
    return;
  }
  if (wr['remoteAddr'] === undefined && wr['rkey'] === undefined) throw noRemote(opcode, path);
  if (wr['remoteOffset'] !== undefined)
    throw valueError(
      `${pathText(path)}.remoteOffset`,
      'belongs to remote: beside remoteAddr and rkey, add it to remoteAddr',
    );
  remote.addr = u64Field(wr, 'remoteAddr', path);
  remote.rkey = u32Field(wr, 'rkey', path);
}

function readFlush(wr: Record<string, unknown>, path: RequestPath, remote: Remote): void {
  const type = u32Field(wr, 'type', path, 0xff);
  const level = wr['level'] === undefined ? SelectivityLevel.RANGE : u32Field(wr, 'level', path, 0xff);
  remote.imm = type | (level << 8);
  remote.compareAdd = wr['length'] === undefined ? 0 : u32Field(wr, 'length', path);
}

function readBind(wr: Record<string, unknown>, path: RequestPath, remote: Remote): void {
  const mw = wr['mw'];
  const window = requestId(mw, 'MemoryWindow');
  if (window === undefined) throw typeError(`${pathText(path)}.mw`, 'a MemoryWindow', mw);
  if ((mw as Resource).closed) throw closedError(`MemoryWindow in ${pathText(path)}.mw`, 'ibv_post_send');
  remote.window = window;
  remote.rkey = u32Field(wr, 'rkey', path);
  const bind = bindInfo(wr['bindInfo'], `${pathText(path)}.bindInfo`);
  remote.imm = bind.access;
  remote.region = bind.region;
  remote.addr = bind.offset;
  remote.compareAdd = bind.length;
}

/** The id of an address handle, which the space holds from now on. Without a path it is the argument `ah`. */
export function addressOf(space: RecordSpace, value: unknown, path?: RequestPath): number {
  const id = requestId(value, 'AddressHandle');
  const argument = () => (path === undefined ? 'ah' : `${pathText(path)}.ah`);
  if (id === undefined) throw typeError(argument(), 'an AddressHandle, as every request of a UD queue pair has', value);
  if ((value as Resource).closed) throw closedError(`AddressHandle in ${argument()}`, 'ibv_post_send');
  space.hold(value as Resource);
  return id;
}

function requestOf(value: unknown, path: RequestPath): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw typeError(pathText(path), 'a work request', value);
  return value as Record<string, unknown>;
}

const SEND_FIELDS =
  'opcode, wrId, sgList, sendFlags, remote, remoteOffset, remoteAddr, rkey, immData, ah, remoteQpn, remoteQkey, remoteSrqn, ' +
  'invalidateRkey, compare, swap, add, mw, bindInfo, type, length, level';

/**
 * A misspelt field would be obeyed in silence, as a message of 0 bytes for instance. A switch over constant names, in the
 * order of their frequency, costs the post call less than a look-up.
 */
function refuseUnknown(wr: Record<string, unknown>, path: RequestPath): void {
  for (const name in wr) {
    switch (name) {
      case 'opcode':
      case 'wrId':
      case 'sgList':
      case 'sendFlags':
      case 'remote':
      case 'remoteOffset':
      case 'remoteAddr':
      case 'rkey':
      case 'immData':
      case 'ah':
      case 'remoteQpn':
      case 'remoteQkey':
      case 'remoteSrqn':
      case 'invalidateRkey':
      case 'compare':
      case 'swap':
      case 'add':
      case 'mw':
      case 'bindInfo':
      case 'type':
      case 'length':
      case 'level':
        continue;
      default:
        unknownField(wr, name, path, SEND_FIELDS);
    }
  }
}

function unknownField(wr: object, name: string, path: RequestPath, known: string): void {
  // What a class or a changed Object.prototype adds is not the program's field.
  if (Object.hasOwn(wr, name)) throw valueError(`${pathText(path)}.${name}`, `is not known here; known are ${known}`);
}

function noRemote(opcode: number, path: RequestPath): TypeError {
  const why = `as ${enumName(WrOpcode, opcode)} needs one: \`remote: peer\`, where peer is what mr.remote() of the peer gave`;
  return typeError(`${pathText(path)}.remote`, `a region of the peer (or remoteAddr and rkey), ${why}`, undefined);
}

const NONE: readonly unknown[] = [];

function listOf(value: unknown, path: RequestPath): readonly unknown[] {
  if (value === undefined) return NONE;
  if (!Array.isArray(value)) throw typeError(`${pathText(path)}.sgList`, 'an array of { mr, offset, length }', value);
  return value as readonly unknown[];
}

export function flagsFor(wrId: bigint | number): number {
  return typeof wrId === 'number' ? WRITTEN | ID_IS_NUMBER : WRITTEN;
}

function putU64(view: DataView, at: number, value: bigint | number): void {
  if (typeof value === 'bigint') {
    view.setBigUint64(at, value, true);
  } else {
    view.setUint32(at, value >>> 0, true);
    view.setUint32(at + 4, Math.floor(value / HIGH), true);
  }
}
