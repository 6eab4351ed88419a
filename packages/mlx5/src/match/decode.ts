import { types } from 'node:util';
import { validate } from '@verbs/core/provider';
import { ipMatch, macMatch, type Masked } from './address-fields.js';
import { readBits } from './bits.js';
import { PART_BYTES, PART_NAMES, PARTS, type Place } from './layout.js';
import type { MatchParams } from './params.js';

/**
 * Match parameters by name: the inverse of `encodeMatch`. Fields outside of the mask are left out; fields with all bits in
 * the mask are plain values. It ignores bits of the value that belong to no field or are outside of the mask.
 *
 * @param mask the matcher's mask; bits behind the end of a short one are 0
 * @param value the flow's value; default zeros
 * @example
 * const { mask, value } = encodeMatch({ outer: { ipProtocol: 17, udpDport: 4789 }, misc: { vxlanVni: 42 } });
 * decodeMatch(mask, value); // { outer: { ipProtocol: 17, udpDport: 4789 }, misc: { vxlanVni: 42 } }
 */
export function decodeMatch(mask: Uint8Array, value: Uint8Array = new Uint8Array()): MatchParams {
  if (!types.isUint8Array(mask)) throw validate.typeError('mask', 'a Uint8Array', mask);
  if (!types.isUint8Array(value)) throw validate.typeError('value', 'a Uint8Array', value);
  const params: Record<string, unknown> = {};
  PART_NAMES.forEach((name, index) => {
    const part = { mask: cut(mask, index), value: cut(value, index) };
    part.value.forEach((byte, i) => (part.value[i] = byte & (part.mask[i] ?? 0)));
    const fields = decodePart(PARTS[name], part);
    if (Object.keys(fields).length > 0) params[name] = fields;
  });
  return params;
}

/** The bytes of a part; bytes behind the end of the buffer are 0. */
function cut(bytes: Uint8Array, index: number): Uint8Array {
  const part = new Uint8Array(PART_BYTES);
  part.set(bytes.subarray(index * PART_BYTES, (index + 1) * PART_BYTES));
  return part;
}

function decodePart(layout: Readonly<Record<string, Place>>, part: Masked): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [name, place] of Object.entries(layout)) {
    const field = decodeField(place, part);
    if (field !== undefined) fields[name] = field;
  }
  return fields;
}

function decodeField([bit, width, kind]: Place, part: Masked): unknown {
  if (kind !== undefined) {
    const [from, to] = [bit / 8, (bit + width) / 8];
    const bytes = { mask: part.mask.subarray(from, to), value: part.value.subarray(from, to) };
    if (bytes.mask.every((byte) => byte === 0)) return undefined;
    return kind === 'mac' ? macMatch(bytes) : ipMatch(bytes);
  }
  const mask = readBits(part.mask, bit, width);
  if (mask === 0) return undefined;
  const value = readBits(part.value, bit, width);
  if (width === 1) return value === 1;
  return mask === 2 ** width - 1 ? value : { value, mask };
}
