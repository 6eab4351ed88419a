import { coreNative, validate } from '@verbs/core/provider';
import { isBytes, limited } from '../base/bytes.js';
import { FlowActionPacketReformatType as Type, FlowTableType as Table } from '../base/enums.js';

const ETHERNET = 14;
const ETHERNET_VLAN = 18;
const DECAP: ReadonlySet<number> = new Set([Type.L2_TUNNEL_TO_L2, Type.L3_TUNNEL_TO_L2]);
const ENCAP: ReadonlySet<number> = new Set([Type.L2_TO_L2_TUNNEL, Type.L2_TO_L3_TUNNEL]);

/** The check of the data of a reformat action: bytes, or none. */
export function bytesOf(value: unknown, path: string): Uint8Array | undefined {
  if (value === undefined) return undefined;
  if (isBytes(value, path)) return limited(value, path);
  throw validate.typeError(path, 'a Uint8Array, for instance of headers(…)', value);
}

/** Why an L3_TUNNEL_TO_L2 action rejects data of that size; undefined for a right size, and for other types. */
export function refusedSize(reformatType: number, data: Uint8Array | undefined): string | undefined {
  if (reformatType !== Type.L3_TUNNEL_TO_L2 || data === undefined) return undefined;
  if (data.byteLength === ETHERNET || data.byteLength === ETHERNET_VLAN) return undefined;
  return (
    `data is the new Ethernet header of decapsulated packets: ${ETHERNET} bytes (dmac, smac, ethertype) or ` +
    `${ETHERNET_VLAN} (with a VLAN tag), not ${data.byteLength}; headers(ether({ dst, src, etherType: 0x0800 })) makes one`
  );
}

/** The remedy for the result of a packet reformat call, a negated errno. */
export function reformatHint(
  result: unknown,
  reformatType: number,
  ftType: number,
  data: Uint8Array | undefined,
): string | undefined {
  if (typeof result !== 'number') return undefined;
  switch (coreNative.errnoName(-result)) {
    case 'EOPNOTSUPP':
      return direction(reformatType, ftType);
    case 'ENOENT':
      return reformatType === Type.L3_TUNNEL_TO_L2
        ? `give data: the new Ethernet header of decapsulated packets, ${ETHERNET} or ${ETHERNET_VLAN} bytes`
        : 'give data: the headers to put in front, for instance of headers(ether(…), ipv4(…), udp(), vxlan(…))';
    case 'EINVAL':
      return refusedData(reformatType, data);
    case 'ENOMEM':
      return 'the device has no room for more reformat actions, or memory is limited: close some';
    default:
      return undefined;
  }
}

function direction(reformatType: number, ftType: number): string {
  if (DECAP.has(reformatType) && ftType !== Table.NIC_RX) {
    return 'decapsulation is for FlowTableType.NIC_RX only (for the e-switch see dr)';
  }
  if (ENCAP.has(reformatType) && ftType !== Table.NIC_TX) {
    return 'encapsulation is for FlowTableType.NIC_TX only (for the e-switch see dr)';
  }
  if (!DECAP.has(reformatType) && !ENCAP.has(reformatType))
    return 'the valid types are those of FlowActionPacketReformatType';
  return 'the device or its firmware does not support it: see devx.queryNicFlowTableCaps(ctx)';
}

function refusedData(reformatType: number, data: Uint8Array | undefined): string {
  if (data?.byteLength === 0) return 'data has no bytes: leave it out, or give the headers';
  if (data !== undefined && ENCAP.has(reformatType) && data.byteLength % 2 === 1) {
    return `the device counts headers in units of 2 bytes, and data has ${data.byteLength}`;
  }
  return `data has ${data?.byteLength ?? 0} bytes: compare with maxEncapHeaderSize of devx.queryNicFlowTableCaps(ctx)`;
}
