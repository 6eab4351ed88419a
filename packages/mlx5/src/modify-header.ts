import { types } from 'node:util';
import { sibling } from '@verbs/core';

const { validate } = sibling;

/** The fields that a modify header action can change, with the device's numbers. */
export const ModifyField = {
  SMAC_47_16: 0x1,
  SMAC_15_0: 0x2,
  ETHERTYPE: 0x3,
  DMAC_47_16: 0x4,
  DMAC_15_0: 0x5,
  IP_DSCP: 0x6,
  TCP_FLAGS: 0x7,
  TCP_SPORT: 0x8,
  TCP_DPORT: 0x9,
  IPV4_TTL: 0xa,
  UDP_SPORT: 0xb,
  UDP_DPORT: 0xc,
  SIPV6_127_96: 0xd,
  SIPV6_95_64: 0xe,
  SIPV6_63_32: 0xf,
  SIPV6_31_0: 0x10,
  DIPV6_127_96: 0x11,
  DIPV6_95_64: 0x12,
  DIPV6_63_32: 0x13,
  DIPV6_31_0: 0x14,
  SIPV4: 0x15,
  DIPV4: 0x16,
  FIRST_VID: 0x17,
  IPV6_HOPLIMIT: 0x47,
  METADATA_REG_A: 0x49,
  METADATA_REG_B: 0x50,
  METADATA_REG_C_0: 0x51,
  METADATA_REG_C_1: 0x52,
  METADATA_REG_C_2: 0x53,
  METADATA_REG_C_3: 0x54,
  METADATA_REG_C_4: 0x55,
  METADATA_REG_C_5: 0x56,
  TCP_SEQ_NUM: 0x59,
  TCP_ACK_NUM: 0x5b,
  GTPU_TEID: 0x6e,
  IP_ECN: 0x73,
} as const;

/** A field by its name in lower case, or its number. */
export type ModifyFieldName = Lowercase<keyof typeof ModifyField> | (number & {});

/**
 * One change. `offset` counts bits from the field's least significant one, default 0; `length` bits, default the field's
 * own width, or what remains of it. The value to add is signed.
 */
export type ModifyAction =
  | { set: ModifyFieldName; value: number; offset?: number; length?: number }
  | { add: ModifyFieldName; value: number; offset?: number; length?: number }
  | { copy: ModifyFieldName; to: ModifyFieldName; offset?: number; toOffset?: number; length?: number };

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

/**
 * The entries of a modify header action in the device's layout, 8 bytes each.
 *
 * @throws TypeError, RangeError with the entry's path
 * @example encodeModifyHeader([{ set: 'smac_47_16', value: 0x248a07a5 }, { copy: 'metadata_reg_c_0', to: 'metadata_reg_c_1' }]);
 */
export function encodeModifyHeader(actions: readonly ModifyAction[], path = 'actions'): Uint8Array {
  if (!Array.isArray(actions)) throw validate.typeError(path, 'an array of entries', actions);
  const bytes = new Uint8Array(actions.length * ENTRY_BYTES);
  const view = new DataView(bytes.buffer);
  actions.forEach((action: unknown, i) => {
    const [first, second] = encodeEntry(action, `${path}[${i}]`);
    view.setUint32(i * ENTRY_BYTES, first);
    view.setUint32(i * ENTRY_BYTES + 4, second);
  });
  return bytes;
}

/** Entries by name, or bytes as they are. */
export function modifyActions(value: unknown, path: string): Uint8Array | BigUint64Array {
  if (types.isUint8Array(value) || types.isBigUint64Array(value)) return value;
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
    throw validate.rangeError(`${path}.length`, `at most ${width - offset}, what ${path}.to has room for`, length);
  }
  return ((to << 16) | (offset << 8)) >>> 0;
}

function lengthOf(value: unknown, path: string, room: number): number {
  return value === undefined ? room : validate.integer(value, path, 1, room);
}

/** Adding is done modulo the field, so that a negative number is one of its complements. */
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
