import { types } from 'node:util';
import { fields, or, range, u16, u31, u8 } from '../base/fields.js';
import type { NativeFlowSpec } from '../base/native.js';
import { boolean, elements, integer, object, typeError, valueError } from '../base/validate.js';
import { FlowAttrType } from '../enums/index.js';
import { handleOf, type Resource } from '../lifetime/resource.js';
import type { FlowFilters } from './flow-spec.js';

// A field of a C structure: where it is, its size, and whether it is bytes, a number in network order, or one in host
// order; and the bits of a number that has fewer than its field.
type Field = readonly [offset: number, size: number, kind: 'bytes' | 'net' | 'host', bits?: number];
interface Layout {
  code: number;
  size: number;
  fields: Readonly<Record<string, Field>>;
}

const PORTS = { dstPort: [0, 2, 'net'], srcPort: [2, 2, 'net'] } as const;

// The layouts of infiniband/verbs.h.
const layouts: Readonly<Record<keyof FlowFilters, Layout>> = {
  eth: {
    code: 0x20,
    size: 16,
    fields: { dstMac: [0, 6, 'bytes'], srcMac: [6, 6, 'bytes'], etherType: [12, 2, 'net'], vlanTag: [14, 2, 'net'] },
  },
  ipv4: { code: 0x30, size: 8, fields: { srcIp: [0, 4, 'bytes'], dstIp: [4, 4, 'bytes'] } },
  ipv6: {
    code: 0x31,
    size: 40,
    fields: {
      srcIp: [0, 16, 'bytes'],
      dstIp: [16, 16, 'bytes'],
      flowLabel: [32, 4, 'net', 20],
      nextHdr: [36, 1, 'host'],
      trafficClass: [37, 1, 'host'],
      hopLimit: [38, 1, 'host'],
    },
  },
  ipv4Ext: {
    code: 0x32,
    size: 12,
    fields: {
      srcIp: [0, 4, 'bytes'],
      dstIp: [4, 4, 'bytes'],
      proto: [8, 1, 'host'],
      tos: [9, 1, 'host'],
      ttl: [10, 1, 'host'],
      flags: [11, 1, 'host'],
    },
  },
  esp: { code: 0x34, size: 8, fields: { spi: [0, 4, 'net'], seq: [4, 4, 'net'] } },
  tcp: { code: 0x40, size: 4, fields: PORTS },
  udp: { code: 0x41, size: 4, fields: PORTS },
  vxlanTunnel: { code: 0x50, size: 4, fields: { tunnelId: [0, 4, 'net', 24] } },
  gre: {
    code: 0x51,
    size: 8,
    fields: { cKsRes0Ver: [0, 2, 'net'], protocol: [2, 2, 'net'], key: [4, 4, 'net'] },
  },
  mpls: { code: 0x60, size: 4, fields: { label: [0, 4, 'net'] } },
};
const INNER = 0x100;
const ACTION_TAG = 0x1000;
const ACTION_DROP = 0x1001;
const ACTION_COUNT = 0x1003;

const attributes = fields({
  type: or(range(0, FlowAttrType.SNIFFER), FlowAttrType.NORMAL),
  priority: or(u16(), 0),
  port: or(u8(), 1),
  flags: or(u31(), 0),
  specs: (value, path) => elements(value ?? [], path, 'an array of flow specifications', 0xff),
});

/** Checks every field by its path. `parents` are the objects that the flow uses. */
export function nativeFlowAttr(value: unknown, path: string) {
  const { type, specs, ...rest } = attributes(value, path);
  const parents: Resource[] = [];
  return {
    attr: { flowType: type, ...rest },
    specs: specs.map((spec, i) => nativeSpec(spec, `${path}.specs[${i}]`, parents)),
    parents,
  };
}

function nativeSpec(value: unknown, path: string, parents: Resource[]): NativeFlowSpec {
  const spec = object(value, path, ['type', 'inner', 'val', 'mask', 'tagId', 'counters']);
  switch (spec['type']) {
    case 'tag':
      return { type: ACTION_TAG, tagId: integer(spec['tagId'], `${path}.tagId`, 0, 0xffffffff) };
    case 'drop':
      return { type: ACTION_DROP };
    case 'count': {
      const counters = handleOf(spec['counters'], 'Counters', `${path}.counters`, 'ibv_create_flow');
      parents.push(spec['counters'] as Resource);
      return { type: ACTION_COUNT, counters };
    }
    default:
      return filterSpec(spec, path);
  }
}

function filterSpec(spec: Record<string, unknown>, path: string): NativeFlowSpec {
  const type = spec['type'];
  const layout =
    typeof type === 'string' && Object.hasOwn(layouts, type) ? layouts[type as keyof FlowFilters] : undefined;
  if (layout === undefined) {
    throw valueError(`${path}.type`, `is not known; known are ${Object.keys(layouts).join(', ')}, tag, drop, count`);
  }
  const inner = boolean(spec['inner'], `${path}.inner`, false);
  const val = object(spec['val'] ?? {}, `${path}.val`, Object.keys(layout.fields));
  const mask = object(spec['mask'] ?? {}, `${path}.mask`, Object.keys(layout.fields));
  const bytes = { val: new Uint8Array(layout.size), mask: new Uint8Array(layout.size) };
  for (const [name, field] of Object.entries(layout.fields)) {
    if (val[name] === undefined) {
      if (mask[name] !== undefined) throw valueError(`${path}.mask.${name}`, `has no val.${name} to compare with`);
      continue;
    }
    put(bytes.val, field, val[name], `${path}.val.${name}`);
    put(bytes.mask, field, mask[name] ?? allBits(field), `${path}.mask.${name}`);
  }
  return { type: layout.code | (inner ? INNER : 0), ...bytes };
}

const allBits = ([, size, kind, bits = 8 * size]: Field) =>
  kind === 'bytes' ? new Uint8Array(size).fill(0xff) : 2 ** bits - 1;

function put(to: Uint8Array, [offset, size, kind, bits = 8 * size]: Field, value: unknown, path: string): void {
  if (kind === 'bytes') {
    if (!types.isUint8Array(value) || value.byteLength !== size) throw typeError(path, `${size} bytes`, value);
    to.set(value, offset);
    return;
  }
  const number = integer(value, path, 0, 2 ** bits - 1);
  // Fields of more than a byte are all in network order.
  for (let i = 0; i < size; i++) to[offset + i] = Math.floor(number / 2 ** (8 * (size - 1 - i))) & 0xff;
}
