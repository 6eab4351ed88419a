import type { DeviceAttr, DeviceInfo, PortAttr } from '@verbs/core';
import { guidText } from '../text.js';
import { extendedLines } from './extended.js';
import { deviceLine, flagLines, hexadecimal, portLine } from './lines.js';
import {
  DEVICE_CAP_FLAGS,
  atomicCapName,
  linkLayerName,
  mtuName,
  physStateName,
  portStateName,
  speedName,
  transportName,
  virtualLanesName,
  widthName,
} from './names.js';
import type { DeviceReport, GidReport } from './report.js';

const named = (name: string, value: number) => `${name} (${value})`;

/** The lines that ibv_devinfo prints for a device: same keys, order and spelling. `verbose` is its -v. */
export function describeDevice(report: DeviceReport, verbose: boolean): string[] {
  const lines = deviceLines(report.device, report.attr, report.boardId);
  if (verbose) {
    lines.push(...limitLines(report.attr), ...extendedLines(report.attr));
    lines.push(deviceLine('num_comp_vectors', report.numCompVectors));
  }
  for (const { portNum, attr, gids } of report.ports) {
    lines.push(`\t\tport:\t${portNum}`, ...portLines(attr));
    if (verbose) lines.push(...verbosePortLines(attr, report.device.transportType), ...gids.flatMap(gidLine));
    lines.push('');
  }
  return lines;
}

function deviceLines(device: DeviceInfo, attr: DeviceAttr, boardId: string | undefined): string[] {
  return [
    `hca_id:\t${device.name}`,
    deviceLine('transport', named(transportName(device.transportType), device.transportType)),
    ...(attr.fwVer === '' ? [] : [deviceLine('fw_ver', attr.fwVer)]),
    deviceLine('node_guid', guidText(attr.nodeGuid)),
    deviceLine('sys_image_guid', guidText(attr.sysImageGuid)),
    deviceLine('vendor_id', hexadecimal(attr.vendorId, 4)),
    deviceLine('vendor_part_id', attr.vendorPartId),
    deviceLine('hw_ver', `0x${attr.hwVer.toString(16).toUpperCase()}`),
    ...(boardId === undefined ? [] : [deviceLine('board_id', boardId)]),
    deviceLine('phys_port_cnt', attr.physPortCnt),
  ];
}

function limitLines(attr: DeviceAttr): string[] {
  return [
    deviceLine('max_mr_size', hexadecimal(attr.maxMrSize)),
    deviceLine('page_size_cap', hexadecimal(attr.pageSizeCap)),
    deviceLine('max_qp', attr.maxQp),
    deviceLine('max_qp_wr', attr.maxQpWr),
    deviceLine('device_cap_flags', hexadecimal(attr.deviceCapFlags, 8)),
    ...flagLines(BigInt(attr.deviceCapFlags), DEVICE_CAP_FLAGS),
    deviceLine('max_sge', attr.maxSge),
    deviceLine('max_sge_rd', attr.maxSgeRd),
    deviceLine('max_cq', attr.maxCq),
    deviceLine('max_cqe', attr.maxCqe),
    deviceLine('max_mr', attr.maxMr),
    deviceLine('max_pd', attr.maxPd),
    deviceLine('max_qp_rd_atom', attr.maxQpRdAtom),
    deviceLine('max_ee_rd_atom', attr.maxEeRdAtom),
    deviceLine('max_res_rd_atom', attr.maxResRdAtom),
    deviceLine('max_qp_init_rd_atom', attr.maxQpInitRdAtom),
    deviceLine('max_ee_init_rd_atom', attr.maxEeInitRdAtom),
    deviceLine('atomic_cap', named(atomicCapName(attr.atomicCap), attr.atomicCap)),
    deviceLine('max_ee', attr.maxEe),
    deviceLine('max_rdd', attr.maxRdd),
    deviceLine('max_mw', attr.maxMw),
    deviceLine('max_raw_ipv6_qp', attr.maxRawIpv6Qp),
    deviceLine('max_raw_ethy_qp', attr.maxRawEthyQp),
    deviceLine('max_mcast_grp', attr.maxMcastGrp),
    deviceLine('max_mcast_qp_attach', attr.maxMcastQpAttach),
    deviceLine('max_total_mcast_qp_attach', attr.maxTotalMcastQpAttach),
    deviceLine('max_ah', attr.maxAh),
    deviceLine('max_fmr', attr.maxFmr),
    ...(attr.maxFmr === 0 ? [] : [deviceLine('max_map_per_fmr', attr.maxMapPerFmr)]),
    deviceLine('max_srq', attr.maxSrq),
    ...(attr.maxSrq === 0 ? [] : [deviceLine('max_srq_wr', attr.maxSrqWr), deviceLine('max_srq_sge', attr.maxSrqSge)]),
    deviceLine('max_pkeys', attr.maxPkeys),
    deviceLine('local_ca_ack_delay', attr.localCaAckDelay),
  ];
}

function portLines(attr: PortAttr): string[] {
  return [
    portLine('state', named(portStateName(attr.state), attr.state)),
    portLine('max_mtu', named(mtuName(attr.maxMtu), attr.maxMtu)),
    portLine('active_mtu', named(mtuName(attr.activeMtu), attr.activeMtu)),
    portLine('sm_lid', attr.smLid),
    portLine('port_lid', attr.lid),
    portLine('port_lmc', hexadecimal(attr.lmc, 2)),
    portLine('link_layer', linkLayerName(attr.linkLayer)),
  ];
}

function verbosePortLines(attr: PortAttr, transportType: number): string[] {
  return [
    portLine('max_msg_sz', hexadecimal(attr.maxMsgSz)),
    portLine('port_cap_flags', hexadecimal(attr.portCapFlags, 8)),
    portLine('port_cap_flags2', hexadecimal(attr.portCapFlags2, 4)),
    portLine('max_vl_num', named(virtualLanesName(attr.maxVlNum), attr.maxVlNum)),
    portLine('bad_pkey_cntr', hexadecimal(attr.badPkeyCntr)),
    portLine('qkey_viol_cntr', hexadecimal(attr.qkeyViolCntr)),
    portLine('sm_sl', attr.smSl),
    portLine('pkey_tbl_len', attr.pkeyTblLen),
    portLine('gid_tbl_len', attr.gidTblLen),
    portLine('subnet_timeout', attr.subnetTimeout),
    portLine('init_type_reply', attr.initTypeReply),
    portLine('active_width', `${widthName(attr.activeWidth)}X (${attr.activeWidth})`),
    portLine('active_speed', named(speedName(attr.activeSpeed), attr.activeSpeed)),
    // Only InfiniBand and RoCE have the state machine that it names.
    ...(transportType === 0 ? [portLine('phys_state', named(physStateName(attr.physState), attr.physState))] : []),
  ];
}

function gidLine({ index, gid, type }: GidReport): string {
  return portLine(`GID[${String(index).padStart(3)}]`, type === undefined ? gid : `${gid}, ${type}`);
}
