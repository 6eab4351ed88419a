import { FlowFlags } from '@verbs/core';
import { describe, expect, it } from 'vitest';
import {
  createFlow,
  createFlowActionPacketReformat,
  createFlowMatcher,
  devx,
  dr,
  ether,
  FlowActionPacketReformatType as Reformat,
  FlowActionType,
  FlowTableType,
  headers,
  ipv4,
  openDevice,
  pipelineGraph,
  udp,
  vxlan,
} from '../src/index.js';
import { open, owned } from './helpers/devices.js';
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

  it('keeps the tables of directions and of open devices apart', () => {
    const [port, ctx] = [new Port(open()), owned(openDevice('mlx5_soft0'))];
    const drop = [{ type: FlowActionType.DROP }] as const;
    const flows = [
      createFlow(createFlowMatcher(port.ctx, { flags: FlowFlags.EGRESS }), undefined, drop),
      createFlow(createFlowMatcher(port.ctx, { ftType: FlowTableType.RDMA_RX }), undefined, [port.qp]),
      createFlow(createFlowMatcher(port.ctx), undefined, [port.qp]),
      createFlow(createFlowMatcher(port.ctx, { ftType: NIC_RX }), undefined, [port.qp]),
      createFlow(createFlowMatcher(ctx, { priority: 1 }), undefined, drop),
    ];
    const tables = pipelineGraph(flows).nodes.filter(({ kind }) => kind === 'table');
    expect(tables.map(({ name }) => name)).toEqual(['NIC_TX', 'RDMA_RX', 'NIC_RX', 'NIC_RX']);
  });

  it('shows what meters, samplers and arrays do on the way', () => {
    const port = new Port(open());
    const domain = dr.createDomain(port.ctx, dr.DomainType.NIC_RX);
    const [first, second, third] = [1, 2, 3].map((level) => dr.createTable(domain, level)) as [
      dr.Table,
      dr.Table,
      dr.Table,
    ];
    const toQp = dr.createActionDestIbvQp(domain, port.qp);
    const count = dr.createActionFlowCounter(domain, devx.allocFlowCounter(port.ctx));
    const parameter = new Uint8Array(32);
    const meter = dr.createActionFlowMeter(domain, { nextTable: second, regCIndex: 0, parameter });
    const sampler = dr.createActionFlowSampler(domain, {
      sampleRatio: 2,
      defaultNextTable: third,
      sampleActions: [toQp, count],
    });
    const array = dr.createActionDestArray(domain, [
      count,
      toQp,
      dr.createActionDestIbvQp(domain, new Port(port.ctx).qp),
    ]);
    const rule = (table: dr.Table, actions: dr.Action[]) => dr.createRule(dr.createMatcher(table), undefined, actions);
    const graph = pipelineGraph([rule(first, [meter]), rule(second, [sampler]), rule(third, [array])]);
    const lines = graph.toText().split('\n');
    expect(lines.slice(0, 5)).toEqual([
      'NIC_RX level 1',
      '└─ every packet, priority 0: flow meter',
      '   └─ NIC_RX level 2',
      '      └─ every packet, priority 0: flow sampler, samples: flow counter',
      '         ├─ NIC_RX level 3',
    ]);
    expect(lines[5]).toBe('         │  └─ every packet, priority 0: flow counter');
    expect(lines.at(-1)).toBe(`         └─ ${qpText(port)}`);
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
