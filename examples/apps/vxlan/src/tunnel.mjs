// The flows that make a port the end of a tunnel. The adapter does the work: it puts the headers on, fills in lengths,
// checksum and source port, and takes them off.
import {
  createFlow,
  createFlowActionPacketReformat,
  createFlowMatcher,
  ether,
  FlowActionPacketReformatType,
  FlowTableType,
  headers,
  ipv4,
  ipv6,
  udp,
  vxlan,
} from '@verbs/mlx5';

/** @import { Context, QueuePair } from '@verbs/core' */
/** @import { Mlx5Flow } from '@verbs/mlx5' */

/**
 * The two ends of a tunnel.
 * @typedef {object} Tunnel
 * @property {number} vni
 * @property {string} local IP address of this end
 * @property {string} remote of the other end
 * @property {string} localMac
 * @property {string} remoteMac
 */

/** Frames that leave are encapsulated. @param {Context} ctx @param {Tunnel} tunnel @returns {Mlx5Flow} to be held */
export function encapsulating(ctx, { vni, local, remote, localMac, remoteMac }) {
  const ip = local.includes(':') ? ipv6({ src: local, dst: remote }) : ipv4({ src: local, dst: remote });
  const action = createFlowActionPacketReformat(ctx, {
    reformatType: FlowActionPacketReformatType.L2_TO_L2_TUNNEL,
    ftType: FlowTableType.NIC_TX,
    data: headers(ether({ src: localMac, dst: remoteMac }), ip, udp(), vxlan({ vni })),
  });
  return createFlow(createFlowMatcher(ctx, { ftType: FlowTableType.NIC_TX }), {}, [action]);
}

/**
 * Frames of the tunnel arrive at the queue pair, decapsulated; no others do.
 * @param {Context} ctx
 * @param {Tunnel} tunnel
 * @param {QueuePair} qp
 * @returns {Mlx5Flow} to be held
 */
export function decapsulating(ctx, { vni }, qp) {
  const match = { outer: { ipProtocol: 17, udpDport: 4789 }, misc: { vxlanVni: vni } };
  const ftType = FlowTableType.NIC_RX;
  const action = createFlowActionPacketReformat(ctx, {
    reformatType: FlowActionPacketReformatType.L2_TUNNEL_TO_L2,
    ftType,
  });
  return createFlow(createFlowMatcher(ctx, { ftType, matchMask: match }), match, [action, qp]);
}

/** Every frame arrives as it is. @param {Context} ctx @param {QueuePair} qp @returns {Mlx5Flow} to be held */
export function everything(ctx, qp) {
  return createFlow(createFlowMatcher(ctx, { ftType: FlowTableType.NIC_RX }), {}, [qp]);
}
