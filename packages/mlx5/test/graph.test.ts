import { describe, expect, it } from 'vitest';
import {
  createFlow,
  createFlowActionPacketReformat,
  createFlowMatcher,
  dr,
  ether,
  FlowActionPacketReformatType as Reformat,
  FlowActionType,
  FlowTableType,
  headers,
  ipv4,
  pipelineGraph,
  udp,
  vxlan,
} from '../src/index.js';
import { open } from './helpers/devices.js';
import { IPS, MACS, Port } from './helpers/frames.js';

const TUNNEL = { outer: { ipProtocol: 17, udpDport: 4789 }, misc: { vxlanVni: 42 } };
const { NIC_RX, NIC_TX } = FlowTableType;
const qpText = ({ qp }: Port) => `queue pair 0x${qp.qpNum.toString(16).padStart(6, '0')}`;

function flowsOf(port: Port) {
  const data = headers(ether(MACS), ipv4(IPS), udp(), vxlan({ vni: 42 }));
  const into = createFlowActionPacketReformat(port.ctx, {
    reformatType: Reformat.L2_TO_L2_TUNNEL,
    ftType: NIC_TX,
    data,
  });
  const outOf = createFlowActionPacketReformat(port.ctx, { reformatType: Reformat.L2_TUNNEL_TO_L2, ftType: NIC_RX });
  const first = createFlowMatcher(port.ctx, { ftType: NIC_RX, matchMask: TUNNEL, priority: 1 });
  const last = createFlowMatcher(port.ctx, { ftType: NIC_RX, priority: 2 });
  return [
    createFlow(last, undefined, [{ type: FlowActionType.DROP }]),
    createFlow(first, TUNNEL, [outOf, { type: FlowActionType.TAG, tagValue: 7 }, port.qp]),
    createFlow(createFlowMatcher(port.ctx, { ftType: NIC_TX }), undefined, [into]),
  ];
}

describe('pipelineGraph', () => {
  it('shows the flows of each table by priority, what they do, and where packets go', () => {
    const port = new Port(open());
    const flows = flowsOf(port);
    expect(pipelineGraph(flows).toText().split('\n')).toEqual([
      'NIC_TX',
      '└─ every packet, priority 0: L2_TO_L2_TUNNEL ether ipv4 udp vxlan',
      'NIC_RX',
      '├─ outer.ipProtocol=17 outer.udpDport=4789 misc.vxlanVni=42, priority 1: L2_TUNNEL_TO_L2, tag 0x7',
      `│  └─ ${qpText(port)}`,
      '└─ every packet, priority 2',
      '   └─ drop',
    ]);
    flows[0]?.close();
    expect(pipelineGraph(flows).toText()).not.toContain('drop');
    expect(pipelineGraph([])).toMatchObject({ nodes: [], edges: [] });
  });

  it('follows direct rules from table to table', () => {
    const port = new Port(open());
    const domain = dr.createDomain(port.ctx, dr.DomainType.NIC_RX);
    const table = dr.createTable(domain, 1);
    const root = dr.createMatcher(dr.createTable(domain, 0));
    const toQp = [dr.createActionTag(domain, 9), dr.createActionDestIbvQp(domain, port.qp)];
    const mask = { outer: { smac: MACS.src } };
    const graph = pipelineGraph([
      dr.createRule(dr.createMatcher(table, { mask }), mask, toQp),
      dr.createRule(root, undefined, [dr.createActionDestTable(domain, table)]),
    ]);
    expect(graph.toText().split('\n')).toEqual([
      'NIC_RX level 0',
      '└─ every packet, priority 0',
      '   └─ NIC_RX level 1',
      `      └─ outer.smac=${MACS.src}, priority 0: tag 0x9`,
      `         └─ ${qpText(port)}`,
    ]);
    expect(graph.nodes.map(({ kind }) => kind).sort()).toEqual(['destination', 'rule', 'rule', 'table', 'table']);
  });

  it('is a program for dot, and a picture', () => {
    const port = new Port(open());
    const graph = pipelineGraph(flowsOf(port));
    const dot = graph.toDot();
    expect(dot).toMatch(/^digraph pipeline \{\n {2}rankdir=LR;\n[^]*\n\}$/);
    expect(dot.match(/ -> /g)).toHaveLength(graph.edges.length);
    expect(dot).toContain('label="every packet, priority 0\\nL2_TO_L2_TUNNEL ether ipv4 udp vxlan"');
    const svg = graph.toSvg();
    expect(svg.match(/<rect /g)).toHaveLength(graph.nodes.length);
    expect(svg.match(/marker-end/g)).toHaveLength(graph.edges.length);
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  });

  it('names a wrong argument', () => {
    expect(() => pipelineGraph([7 as never])).toThrow(/rules\[0\]/);
    expect(() => pipelineGraph(undefined as never)).toThrow(/rules/);
  });
});
