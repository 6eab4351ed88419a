import { types } from 'node:util';
import { validate } from '@verbs/core/provider';
import { ipField, macField, type Masked } from './address-fields.js';
import { writeBits } from './bits.js';
import { PART_BYTES, PART_NAMES, PARTS, type Place } from './layout.js';
import type { EncodedMatch, MatchParams } from './params.js';

/** The parts up to misc4, which every library knows. */
const COMMON_BYTES = 0x180;
const MASKED_KEYS = ['value', 'mask'];

/**
 * Match parameters in the layout of the device (`fte_match_param`).
 *
 * One object serves both: a matcher takes its mask, a flow or rule its value. A flow gives a value for every field of the
 * mask; a field without a value must be 0 in the packet. The buffers have 0x180 bytes, or 0x1c0 with misc5, which older
 * libraries reject.
 *
 * @throws TypeError, RangeError for an unknown name or a value out of its range, with its path
 * @example
 * const { mask, value, matchCriteriaEnable } = encodeMatch({
 *   outer: { ipProtocol: 17, udpDport: 4789, srcIp: '10.1.0.0/16' },
 *   misc: { vxlanVni: { value: 0x2a00, mask: 0xffff00 } },
 * });
 */
export function encodeMatch(params: MatchParams): EncodedMatch {
  const given = validate.object(params, 'match', PART_NAMES);
  const size = given['misc5'] === undefined ? COMMON_BYTES : PART_NAMES.length * PART_BYTES;
  const encoded = { mask: new Uint8Array(size), value: new Uint8Array(size), matchCriteriaEnable: 0 };
  PART_NAMES.forEach((name, index) => {
    if (given[name] === undefined) return;
    const [from, to] = [index * PART_BYTES, (index + 1) * PART_BYTES];
    const part = { mask: encoded.mask.subarray(from, to), value: encoded.value.subarray(from, to) };
    encodePart(given[name], `match.${name}`, PARTS[name], part);
    if (part.mask.some((byte) => byte !== 0)) encoded.matchCriteriaEnable |= 1 << index;
  });
  return encoded;
}

function encodePart(value: unknown, path: string, layout: Readonly<Record<string, Place>>, part: Masked): void {
  const fields = validate.object(value, path, Object.keys(layout));
  for (const [name, place] of Object.entries(layout)) {
    if (fields[name] !== undefined) encodeField(fields[name], `${path}.${name}`, place, part);
  }
}

function encodeField(field: unknown, path: string, [bit, width, kind]: Place, part: Masked): void {
  const { value, mask } = split(field, path);
  if (kind !== undefined) {
    const bytes = kind === 'mac' ? macField(value, mask, path) : ipField(value, mask, path);
    bytes.value.forEach((byte, i) => (bytes.value[i] = byte & (bytes.mask[i] ?? 0)));
    part.mask.set(bytes.mask, bit / 8);
    part.value.set(bytes.value, bit / 8);
    return;
  }
  const bits = mask === undefined ? 2 ** width - 1 : number(mask, `${path}.mask`, width);
  const wanted = value === undefined ? 0 : number(value, path, width);
  writeBits(part.mask, bit, width, bits);
  // The library rejects bits outside of the mask; they have no effect anyway.
  writeBits(part.value, bit, width, (wanted & bits) >>> 0);
}

function split(field: unknown, path: string): { value: unknown; mask: unknown } {
  if (typeof field !== 'object' || field === null || types.isUint8Array(field)) {
    return { value: field, mask: undefined };
  }
  const { value, mask } = validate.object(field, path, MASKED_KEYS);
  if (mask === undefined) throw validate.valueError(`${path}.mask`, 'must be given where a field is an object');
  return { value, mask };
}

function number(value: unknown, path: string, width: number): number {
  if (width === 1 && typeof value === 'boolean') return Number(value);
  return validate.integer(value, path, 0, 2 ** width - 1);
}
