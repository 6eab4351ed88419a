import type { DeviceAttrEx } from '@verbs/core';
import { deviceLine, flagLine, flagLines, hexadecimal, keyValue } from './lines.js';

const ODP_GENERAL = new Map([
  [0, 'ODP_SUPPORT'],
  [1, 'ODP_SUPPORT_IMPLICIT'],
]);

const ODP_TRANSPORT = new Map([
  [0, 'SUPPORT_SEND'],
  [1, 'SUPPORT_RECV'],
  [2, 'SUPPORT_WRITE'],
  [3, 'SUPPORT_READ'],
  [4, 'SUPPORT_ATOMIC'],
  [5, 'SUPPORT_SRQ'],
]);

const RAW_PACKET_CAPS = new Map([
  [0, 'C-VLAN stripping offload'],
  [1, 'Scatter FCS offload'],
  [2, 'IP csum offload'],
  [3, 'Delay drop'],
]);

const CAP_FLAGS_EX = new Map([
  [34, 'RAW_SCATTER_FCS'],
  [36, 'PCI_WRITE_END_PADDING'],
]);

/** Queue pair types with their bits, in the tool's order. */
const QP_TYPES = new Map([
  [8, 'SUPPORT_RAW_PACKET'],
  [4, 'SUPPORT_UD'],
]);

/** Bit 0 of a tag matching capability is named after its constant. */
const TM_FLAGS = new Map([[0, 'IBV_TM_CAP_RC']]);

const upperHex = (value: number | bigint) => `0x${value.toString(16).toUpperCase()}`;

/** The lines of ibv_devinfo -v for `struct ibv_device_attr_ex`. */
export function extendedLines(attr: DeviceAttrEx): string[] {
  return [
    ...onDemandPaging(attr),
    attr.completionTimestampMask === 0n
      ? '\tcompletion_timestamp_mask not supported'
      : // The tool spells this key with a blank.
        keyValue(1, 'completion timestamp_mask', hexadecimal(attr.completionTimestampMask, 16), 56),
    attr.hcaCoreClock === 0n ? '\tcore clock not supported' : deviceLine('hca_core_clock', `${attr.hcaCoreClock}kHZ`),
    ...(attr.rawPacketCaps === 0 ? [] : ['\traw packet caps:', ...knownFlags(attr.rawPacketCaps, RAW_PACKET_CAPS)]),
    deviceLine('device_cap_flags_ex', upperHex(attr.deviceCapFlagsEx)),
    // Only the upper half: the lower one was printed as device_cap_flags.
    ...flagLines((attr.deviceCapFlagsEx >> 32n) << 32n, CAP_FLAGS_EX),
    ...segmentation(attr),
    ...receiveSideScaling(attr),
    deviceLine('max_wq_type_rq', attr.maxWqTypeRq),
    ...packetPacing(attr),
    ...tagMatching(attr),
    ...moderation(attr),
    ...(attr.maxDmSize === 0n ? [] : [`\tmaximum available device memory:\t${attr.maxDmSize}Bytes`, '']),
  ];
}

function onDemandPaging({ odpCaps }: DeviceAttrEx): string[] {
  const transport = (key: string, caps: number) => [
    `\t${key}:`,
    ...(caps === 0 ? [flagLine('NO SUPPORT')] : flagLines(BigInt(caps), ODP_TRANSPORT)),
  ];
  return [
    '\tgeneral_odp_caps:',
    ...flagLines(odpCaps.generalCaps, ODP_GENERAL),
    ...transport('rc_odp_caps', odpCaps.rcOdpCaps),
    ...transport('uc_odp_caps', odpCaps.ucOdpCaps),
    ...transport('ud_odp_caps', odpCaps.udOdpCaps),
    ...transport('xrc_odp_caps', odpCaps.xrcOdpCaps),
  ];
}

function segmentation({ tsoCaps }: DeviceAttrEx): string[] {
  const lines = ['\ttso_caps:', keyValue(2, 'max_tso', tsoCaps.maxTso, 48)];
  if (tsoCaps.maxTso !== 0) lines.push('\t\tsupported_qp:', ...flagLines(BigInt(tsoCaps.supportedQpts), QP_TYPES));
  return lines;
}

function receiveSideScaling({ rssCaps }: DeviceAttrEx): string[] {
  const line = (key: string, value: string | number) => keyValue(2, key, value, 64);
  const lines = [
    '\trss_caps:',
    line('max_rwq_indirection_tables', rssCaps.maxRwqIndirectionTables),
    line('max_rwq_indirection_table_size', rssCaps.maxRwqIndirectionTableSize),
    line('rx_hash_function', hexadecimal(rssCaps.rxHashFunction)),
    line('rx_hash_fields_mask', upperHex(rssCaps.rxHashFieldsMask)),
  ];
  if (rssCaps.supportedQpts !== 0)
    lines.push('\t\tsupported_qp:', ...flagLines(BigInt(rssCaps.supportedQpts), QP_TYPES));
  return lines;
}

function packetPacing({ packetPacingCaps: caps }: DeviceAttrEx): string[] {
  const lines = [
    '\tpacket_pacing_caps:',
    keyValue(2, 'qp_rate_limit_min', `${caps.qpRateLimitMin}kbps`, 40),
    keyValue(2, 'qp_rate_limit_max', `${caps.qpRateLimitMax}kbps`, 40),
  ];
  if (caps.qpRateLimitMax !== 0) lines.push('\t\tsupported_qp:', ...flagLines(BigInt(caps.supportedQpts), QP_TYPES));
  return lines;
}

function tagMatching({ tmCaps }: DeviceAttrEx): string[] {
  if (tmCaps.maxNumTags === 0) return ['\ttag matching not supported'];
  return [
    deviceLine('max_rndv_hdr_size', tmCaps.maxRndvHdrSize),
    deviceLine('max_num_tags', tmCaps.maxNumTags),
    deviceLine('max_ops', tmCaps.maxOps),
    deviceLine('max_sge', tmCaps.maxSge),
    '\tflags:',
    ...knownFlags(tmCaps.flags, TM_FLAGS),
  ];
}

function moderation({ cqModCaps }: DeviceAttrEx): string[] {
  if (cqModCaps.maxCqCount === 0 || cqModCaps.maxCqPeriod === 0) return [];
  return [
    '',
    '\tcq moderation caps:',
    `\t\tmax_cq_count:\t${cqModCaps.maxCqCount}`,
    `\t\tmax_cq_period:\t${cqModCaps.maxCqPeriod} us`,
    '',
  ];
}

/** The tool prints nothing for unknown bits here. */
function knownFlags(value: number, names: ReadonlyMap<number, string>): string[] {
  return [...names].filter(([bit]) => ((value >>> bit) & 1) === 1).map(([, name]) => flagLine(name));
}
