import { types } from 'node:util';
import { detachedError, isDetached, validate } from '@verbs/core/provider';
import { isBytes, MOST_BYTES, limited } from '../base/bytes.js';

/** The fields for modify header actions, with the device's numbers. */
export const ModifyField = {
  /** Source MAC address, its first 4 bytes. */
  SMAC_47_16: 0x1,
  /** Source MAC address, its last 2 bytes: 16 bits. */
  SMAC_15_0: 0x2,
  /** 16 bits. */
  ETHERTYPE: 0x3,
  /** Destination MAC address, its first 4 bytes. */
  DMAC_47_16: 0x4,
  /** Destination MAC address, its last 2 bytes: 16 bits. */
  DMAC_15_0: 0x5,
  /** 6 bits. */
  IP_DSCP: 0x6,
  /** 9 bits. */
  TCP_FLAGS: 0x7,
  /** Source port of TCP, 16 bits. */
  TCP_SPORT: 0x8,
  /** Destination port of TCP, 16 bits. */
  TCP_DPORT: 0x9,
  /** TTL of IPv4, 8 bits; a router adds -1. */
  IPV4_TTL: 0xa,
  /** Source port of UDP, 16 bits. */
  UDP_SPORT: 0xb,
  /** Destination port of UDP, 16 bits. */
  UDP_DPORT: 0xc,
  /** Source address of IPv6, its first 4 bytes. */
  SIPV6_127_96: 0xd,
  /** Source address of IPv6, its second 4 bytes. */
  SIPV6_95_64: 0xe,
  /** Source address of IPv6, its third 4 bytes. */
  SIPV6_63_32: 0xf,
  /** Source address of IPv6, its last 4 bytes. */
  SIPV6_31_0: 0x10,
  /** Destination address of IPv6, its first 4 bytes. */
  DIPV6_127_96: 0x11,
  /** Destination address of IPv6, its second 4 bytes. */
  DIPV6_95_64: 0x12,
  /** Destination address of IPv6, its third 4 bytes. */
  DIPV6_63_32: 0x13,
  /** Destination address of IPv6, its last 4 bytes. */
  DIPV6_31_0: 0x14,
  /** Source address of IPv4. */
  SIPV4: 0x15,
  /** Destination address of IPv4. */
  DIPV4: 0x16,
  /** Number of the first VLAN, 12 bits. */
  FIRST_VID: 0x17,
  /** Hop limit of IPv6, 8 bits. */
  IPV6_HOPLIMIT: 0x47,
  /** Register A, of packets that are sent. */
  METADATA_REG_A: 0x49,
  /** Register B, of packets that are received: the completion's word. */
  METADATA_REG_B: 0x50,
  /** Register C0, which the packet keeps from table to table. */
  METADATA_REG_C_0: 0x51,
  /** Register C1, which the packet keeps from table to table. */
  METADATA_REG_C_1: 0x52,
  /** Register C2, which the packet keeps from table to table. */
  METADATA_REG_C_2: 0x53,
  /** Register C3, which the packet keeps from table to table. */
  METADATA_REG_C_3: 0x54,
  /** Register C4, which the packet keeps from table to table. */
  METADATA_REG_C_4: 0x55,
  /** Register C5, which the packet keeps from table to table. */
  METADATA_REG_C_5: 0x56,
  /** Sequence number of TCP. */
  TCP_SEQ_NUM: 0x59,
  /** Acknowledgement number of TCP. */
  TCP_ACK_NUM: 0x5b,
  /** Tunnel endpoint identifier of GTP-U. */
  GTPU_TEID: 0x6e,
  /** 2 bits. */
  IP_ECN: 0x73,
} as const;

/** A field by its name in lower case, or its number. */
export type ModifyFieldName = Lowercase<keyof typeof ModifyField> | (number & {});

/** `struct mlx5_ifc_set_action_in_bits` and its like: one change. */
export type ModifyAction = SetField | AddField | CopyField;

/** Puts a value into a field. */
export interface SetField {
  /** The field. */
  set: ModifyFieldName;
  /** At most `length` bits. */
  value: number;
  /** Bits from the field's least significant one, default 0. */
  offset?: number;
  /** Bits; default the rest of the field, at most 32. */
  length?: number;
}

/** Adds to the whole of a field, modulo its size. */
export interface AddField {
  /** The field. */
  add: ModifyFieldName;
  /** Signed: -1 subtracts one. */
  value: number;
}

/** Copies one field into another. */
export interface CopyField {
  /** The field to copy from. */
  copy: ModifyFieldName;
  /** The field to copy to. */
  to: ModifyFieldName;
  /** Bits from the least significant one of the field to copy from, default 0. */
  offset?: number;
  /** Bits from the least significant one of the field to copy to, default 0. */
  toOffset?: number;
  /** Bits; default the rest of the source field, at most 32. */
  length?: number;
}

/** Fields with fewer bits than 32. */
const WIDTHS: Readonly<Record<number, number>> = {
  [ModifyField.SMAC_15_0]: 16,
  [ModifyField.ETHERTYPE]: 16,
  [ModifyField.DMAC_15_0]: 16,
  [ModifyField.IP_DSCP]: 6,
  [ModifyField.TCP_FLAGS]: 9,
  [ModifyField.TCP_SPORT]: 16,
  [ModifyField.TCP_DPORT]: 16,
  [ModifyField.IPV4_TTL]: 8,
  [ModifyField.UDP_SPORT]: 16,
  [ModifyField.UDP_DPORT]: 16,
  [ModifyField.FIRST_VID]: 12,
  [ModifyField.IPV6_HOPLIMIT]: 8,
  [ModifyField.IP_ECN]: 2,
};
const NUMBERS: ReadonlyMap<string, number> = new Map(
  Object.entries(ModifyField).map(([name, number]) => [name.toLowerCase(), number]),
);
const SET = 1;
const ADD = 2;
const COPY = 3;
const ENTRY_BYTES = 8;
const MOST_ENTRIES = Math.floor(MOST_BYTES / ENTRY_BYTES);

/**
 * The entries of a modify header action in the device's layout, 8 bytes each.
 *
 * @throws TypeError, RangeError with the entry's path
 * @example encodeModifyHeader([{ set: 'smac_47_16', value: 0x248a07a5 }, { copy: 'metadata_reg_c_0', to: 'metadata_reg_c_1' }]);
 */
export function encodeModifyHeader(actions: readonly ModifyAction[], path = 'actions'): Uint8Array {
  const entries = validate.elements(actions, path, 'an array of entries', MOST_ENTRIES);
  const bytes = new Uint8Array(entries.length * ENTRY_BYTES);
  const view = new DataView(bytes.buffer);
  entries.forEach((action, i) => {
    const [first, second] = encodeEntry(action, `${path}[${i}]`);
    view.setUint32(i * ENTRY_BYTES, first);
    view.setUint32(i * ENTRY_BYTES + 4, second);
  });
  return bytes;
}

/** Entries by name, or bytes as they are. */
export function modifyActions(value: unknown, path: string): Uint8Array | BigUint64Array {
  if (isBytes(value, path)) return limited(value, path);
  if (types.isBigUint64Array(value)) {
    if (isDetached(value)) throw detachedError(path);
    return limited(value, path);
  }
  return encodeModifyHeader(value as readonly ModifyAction[], path);
}

function encodeEntry(value: unknown, path: string): [number, number] {
  const names = ['set', 'add', 'copy', 'to', 'value', 'offset', 'toOffset', 'length'];
  const entry = validate.object(value, path, names);
  const kinds = ['set', 'add', 'copy'].filter((kind) => entry[kind] !== undefined);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) throw validate.valueError(path, 'must have one of set, add and copy');
  const field = fieldNumber(entry[kind], `${path}.${kind}`);
  const width = WIDTHS[field] ?? 32;
  if (kind === 'add') {
    // The device would ignore them.
    for (const name of ['offset', 'length']) {
      if (entry[name] !== undefined)
        throw validate.valueError(`${path}.${name}`, 'is not for add: it is to the whole field');
    }
  }
  const offset = validate.optional(entry['offset'], `${path}.offset`, width - 1, 0);
  const length = lengthOf(entry['length'], `${path}.length`, width - offset);
  const type = { set: SET, add: ADD, copy: COPY }[kind] ?? SET;
  const first = word(type, field, offset, length);
  if (kind === 'copy') return [first, target(entry, path, length)];
  for (const name of ['to', 'toOffset']) {
    if (entry[name] !== undefined) throw validate.valueError(`${path}.${name}`, 'is for copy only');
  }
  return [first, data(entry['value'], `${path}.value`, length, kind === 'add')];
}

function word(type: number, field: number, offset: number, length: number): number {
  return ((type << 28) | (field << 16) | (offset << 8) | (length & 31)) >>> 0;
}

function target(entry: Record<string, unknown>, path: string, length: number): number {
  if (entry['value'] !== undefined) throw validate.valueError(`${path}.value`, 'is not for copy');
  const to = fieldNumber(entry['to'], `${path}.to`);
  const width = WIDTHS[to] ?? 32;
  const offset = validate.optional(entry['toOffset'], `${path}.toOffset`, width - 1, 0);
  if (offset + length > width) {
    throw validate.rangeError(`${path}.length`, `at most ${width - offset}, the room in ${path}.to`, length);
  }
  return ((to << 16) | (offset << 8)) >>> 0;
}

function lengthOf(value: unknown, path: string, room: number): number {
  return value === undefined ? room : validate.integer(value, path, 1, room);
}

/** The device adds modulo 2^length, so that a negative number is its complement. */
function data(value: unknown, path: string, length: number, signed: boolean): number {
  const number = validate.integer(value, path, signed ? -(2 ** (length - 1)) : 0, 2 ** length - 1);
  return number < 0 ? number + 2 ** length : number;
}

function fieldNumber(value: unknown, path: string): number {
  if (typeof value === 'number') return validate.integer(value, path, 0, 0xfff);
  const number = typeof value === 'string' ? NUMBERS.get(value.toLowerCase()) : undefined;
  if (number === undefined) {
    throw validate.typeError(path, `a field's number or name (${[...NUMBERS.keys()].join(', ')})`, value);
  }
  return number;
}
