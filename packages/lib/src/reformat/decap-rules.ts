import type { Context, QueuePair } from '@verbs/core';
import {
  createFlow,
  createFlowActionPacketReformat,
  createFlowMatcher,
  FlowActionPacketReformatType,
  FlowTableType,
  type MatchParams,
  type Mlx5Flow,
} from '@verbs/mlx5';
import type { DecapSpec } from './spec.js';
import { innerMac, type IpVersion } from './template.js';

const VERSIONS: readonly IpVersion[] = [4, 6];
const UDP = 17;
const GRE = 47;
const TRANSPARENT_ETHERNET = 0x6558;

/** Flows that decapsulate the frames a device receives for `qp`, while they are referenced. Other frames are dropped. */
export function decapRules(context: Context, spec: DecapSpec, qp: QueuePair): Mlx5Flow[] {
  const { mac } = spec;
  if (mac === undefined) {
    return [rule(context, tunnelMatch(spec), { reformatType: FlowActionPacketReformatType.L2_TUNNEL_TO_L2 }, qp)];
  }
  // The EtherType is part of an action's data, so that each IP version needs its own.
  return VERSIONS.map((version) => {
    const match = { ...tunnelMatch(spec), inner: { ipVersion: version } };
    const data = innerMac(mac, version);
    return rule(context, match, { reformatType: FlowActionPacketReformatType.L3_TUNNEL_TO_L2, data }, qp);
  });
}

function rule(
  context: Context,
  match: MatchParams,
  attr: { reformatType: number; data?: Uint8Array },
  qp: QueuePair,
): Mlx5Flow {
  const ftType = FlowTableType.NIC_RX;
  const action = createFlowActionPacketReformat(context, { ...attr, ftType });
  return createFlow(createFlowMatcher(context, { ftType, matchMask: match }), match, [action, qp]);
}

function tunnelMatch({ tunnel, id }: DecapSpec): MatchParams {
  switch (tunnel) {
    case 'vxlan':
      return { outer: { ipProtocol: UDP, udpDport: 4789 }, ...(id !== undefined && { misc: { vxlanVni: id } }) };
    case 'geneve':
      return { outer: { ipProtocol: UDP, udpDport: 6081 }, ...(id !== undefined && { misc: { geneveVni: id } }) };
    case 'gre':
      return {
        outer: { ipProtocol: GRE },
        ...(id !== undefined && { misc: { greKPresent: true, greKey: id } }),
      };
    case 'nvgre':
      return {
        outer: { ipProtocol: GRE },
        misc: {
          greKPresent: true,
          greProtocol: TRANSPARENT_ETHERNET,
          // The lowest 8 bits are the flow's.
          ...(id !== undefined && { greKey: { value: id * 256, mask: 0xffffff00 } }),
        },
      };
    case 'mplsoudp':
      return {
        outer: { ipProtocol: UDP, udpDport: 6635 },
        ...(id !== undefined && { misc2: { outerFirstMplsOverUdpLabel: id } }),
      };
    case 'gtpu':
      return { outer: { ipProtocol: UDP, udpDport: 2152 }, ...(id !== undefined && { misc3: { gtpuTeid: id } }) };
  }
}
