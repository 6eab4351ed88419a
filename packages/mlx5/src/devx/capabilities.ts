import type { Context } from '@verbs/core';
import { viewOf } from './command.js';
import { generalCmd } from './commands.js';

const QUERY_HCA_CAP = 0x100;
const NIC_FLOW_TABLE = 7;
const CURRENT = 1;
const HEADER_BYTES = 16;
const BLOCK_BYTES = 0x1000;

/** The capabilities of one kind of flow table. */
export interface FlowTableProperties {
  /** Whether such tables exist. */
  ftSupport: boolean;
  /** Flows can mark completions. */
  flowTag: boolean;
  /** Flows can count. */
  flowCounter: boolean;
  /** Entries can change in place. */
  flowModifyEn: boolean;
  /** L2_TO_L2_TUNNEL on NIC_TX. */
  reformat: boolean;
  /** L2_TUNNEL_TO_L2. */
  decap: boolean;
  /** Flows can take a VLAN tag off. */
  popVlan: boolean;
  /** Flows can put a VLAN tag on. */
  pushVlan: boolean;
  /** One flow can reformat and change VLAN tags. */
  reformatAndVlanAction: boolean;
  /** Direct rules write its memory themselves. */
  swOwner: boolean;
  /** L3_TUNNEL_TO_L2. */
  reformatL3TunnelToL2: boolean;
  /** L2_TO_L3_TUNNEL. */
  reformatL2ToL3Tunnel: boolean;
  /** One flow can reformat and modify headers. */
  reformatAndModifyAction: boolean;
  /** `swOwner` in the format of newer devices. */
  swOwnerV2: boolean;
  /** Entries of a table, as a power of two. */
  logMaxFtSize: number;
  /** Modify header actions, as a power of two. */
  logMaxModifyHeaderContext: number;
  /** Entries of a modify header action. */
  maxModifyHeaderActions: number;
  /** Levels of tables. */
  maxFtLevel: number;
  /** Tables, as a power of two. */
  logMaxFtNum: number;
  /** Flow counters, as a power of two. */
  logMaxFlowCounter: number;
  /** Destinations of a flow, as a power of two. */
  logMaxDestination: number;
  /** Flows, as a power of two. */
  logMaxFlow: number;
}

/** The capabilities of the device's flow tables. */
export interface NicFlowTableCaps {
  /** NIC_RX has DEFAULT_MISS. */
  nicRxMultiPathTirs: boolean;
  /** The device encapsulates. */
  encapGeneralHeader: boolean;
  /** Reformat actions with data, as a power of two. */
  logMaxPacketReformatContext: number;
  /** Bytes of a reformat action's data. */
  maxEncapHeaderSize: number;
  /** Tables of NIC_RX. */
  nicReceive: FlowTableProperties;
  /** Tables of RDMA_RX. */
  nicReceiveRdma: FlowTableProperties;
  /** Tables that copy received packets. */
  nicReceiveSniffer: FlowTableProperties;
  /** Tables of NIC_TX. */
  nicTransmit: FlowTableProperties;
  /** Tables of RDMA_TX. */
  nicTransmitRdma: FlowTableProperties;
  /** Tables that copy sent packets. */
  nicTransmitSniffer: FlowTableProperties;
}

/**
 * QUERY_HCA_CAP for the NIC's flow tables, by `mlx5dv_devx_general_cmd`: the reformat actions of the device, and their
 * limits.
 *
 * @throws VerbsError EREMOTEIO, EOPNOTSUPP
 * @example devx.queryNicFlowTableCaps(ctx).maxEncapHeaderSize;
 */
export function queryNicFlowTableCaps(ctx: Context): NicFlowTableCaps {
  const input = new Uint8Array(HEADER_BYTES);
  viewOf(input).setUint16(0, QUERY_HCA_CAP);
  viewOf(input).setUint16(6, (NIC_FLOW_TABLE << 1) | CURRENT);
  const block = viewOf(generalCmd(ctx, input, HEADER_BYTES + BLOCK_BYTES).subarray(HEADER_BYTES));
  return {
    nicRxMultiPathTirs: bit(block, 0, 0),
    encapGeneralHeader: bit(block, 4, 0),
    logMaxPacketReformatContext: block.getUint8(5) & 0x1f,
    maxEncapHeaderSize: block.getUint16(6) & 0x3ff,
    nicReceive: properties(block, 0x40),
    nicReceiveRdma: properties(block, 0x80),
    nicReceiveSniffer: properties(block, 0xc0),
    nicTransmit: properties(block, 0x100),
    nicTransmitRdma: properties(block, 0x140),
    nicTransmitSniffer: properties(block, 0x180),
  };
}

/** Bits count from the most significant one. */
function bit(block: DataView, at: number, number: number): boolean {
  return (block.getUint8(at + (number >> 3)) & (0x80 >> (number & 7))) !== 0;
}

function properties(block: DataView, at: number): FlowTableProperties {
  return {
    ftSupport: bit(block, at, 0),
    flowTag: bit(block, at, 1),
    flowCounter: bit(block, at, 2),
    flowModifyEn: bit(block, at, 3),
    reformat: bit(block, at, 7),
    decap: bit(block, at, 8),
    popVlan: bit(block, at, 10),
    pushVlan: bit(block, at, 11),
    reformatAndVlanAction: bit(block, at, 15),
    swOwner: bit(block, at, 17),
    reformatL3TunnelToL2: bit(block, at, 18),
    reformatL2ToL3Tunnel: bit(block, at, 19),
    reformatAndModifyAction: bit(block, at, 20),
    swOwnerV2: bit(block, at, 30),
    logMaxFtSize: block.getUint8(at + 4) & 0x3f,
    logMaxModifyHeaderContext: block.getUint8(at + 5),
    maxModifyHeaderActions: block.getUint8(at + 6),
    maxFtLevel: block.getUint8(at + 7),
    logMaxFtNum: block.getUint8(at + 15),
    logMaxFlowCounter: block.getUint8(at + 18),
    logMaxDestination: block.getUint8(at + 19),
    logMaxFlow: block.getUint8(at + 23),
  };
}
