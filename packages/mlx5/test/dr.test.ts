import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  devx,
  dr,
  ether,
  FlowActionPacketReformatType as Type,
  geneve,
  gre,
  headers,
  ipv4,
  udp,
} from '../src/index.js';
import { code, open } from './helpers/devices.js';
import { INNER, IPS, MACS, Port } from './helpers/frames.js';

const SMAC = { outer: { smac: MACS.src } };

/** A root table that leads to a table of level 1, where rules can do everything. */
function steering(port: Port, type: dr.DomainType) {
  const domain = dr.createDomain(port.ctx, type);
  const table = dr.createTable(domain, 1);
  const root = dr.createMatcher(dr.createTable(domain, 0));
  dr.createRule(root, undefined, [dr.createActionDestTable(domain, table)]);
  return { domain, table, matcher: dr.createMatcher(table, { mask: SMAC }) };
}
const receiving = (port: Port) => steering(port, dr.DomainType.NIC_RX);
const sending = (port: Port) => steering(port, dr.DomainType.NIC_TX);
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('rules', () => {
  it('bring frames to a queue pair, with a tag, counted', async () => {
    const port = new Port(open());
    const { domain, matcher } = receiving(port);
    const counter = devx.allocFlowCounter(port.ctx);
    const rule = dr.createRule(matcher, SMAC, [
      dr.createActionTag(domain, 0x123),
      dr.createActionFlowCounter(domain, counter),
      dr.createActionDestIbvQp(domain, port.qp),
    ]);
    await port.send(INNER);
    const { bytes, wc } = await port.receiveOne();
    expect([hex(bytes), wc.flowTag, counter.read().packets]).toEqual([hex(INNER), 0x123, 1n]);
    rule.close();
    dr.createRule(matcher, SMAC, [dr.createActionDrop(domain)]);
    await port.send(INNER);
    expect(await port.drain()).toEqual([]);
  });

  it('of a root table do so too', async () => {
    const port = new Port(open());
    const domain = dr.createDomain(port.ctx, dr.DomainType.NIC_RX);
    const matcher = dr.createMatcher(dr.createTable(domain, 0), { mask: SMAC });
    dr.createRule(matcher, SMAC, [dr.createActionDestIbvQp(domain, port.qp)]);
    await port.send(INNER);
    expect(hex((await port.receiveOne()).bytes)).toBe(hex(INNER));
  });

  it('modify headers, push and pop VLAN tags', async () => {
    const port = new Port(open());
    const out = sending(port);
    const modify = dr.createActionModifyHeader(out.domain, { actions: [{ set: 'smac_15_0', value: 0x0102 }] });
    const push = dr.createActionPushVlan(out.domain, 0x8100_0064);
    dr.createRule(out.matcher, SMAC, [modify, push]);
    const { domain, table } = receiving(port);
    dr.createRule(dr.createMatcher(table), undefined, [dr.createActionDestIbvQp(domain, port.qp)]);
    await port.send(INNER);
    const { bytes } = await port.receiveOne();
    expect(hex(bytes.subarray(6, 18))).toBe('248a07a50102810000640800');
  });

  it('give every destination of an array its copy', async () => {
    const port = new Port(open());
    const { domain, matcher } = receiving(port);
    const ports = [port, new Port(port.ctx), new Port(port.ctx)];
    const dests = ports.map(({ qp }) => dr.createActionDestIbvQp(domain, qp));
    dr.createRule(matcher, SMAC, [dr.createActionDestArray(domain, dests)]);
    await port.send(INNER);
    for (const each of ports) expect(hex((await each.receiveOne()).bytes)).toBe(hex(INNER));
  });

  const tunnels = [
    ['GENEVE', 'l2', [udp(), geneve({ vni: 2 })]],
    ['GRE', 'l2', [gre({ key: 0x12345678, protocol: 0x6558 })]],
    ['GRE', 'l3', [gre({ key: 0x12345678, protocol: 0x0800 })]],
  ] as const;
  it.each(tunnels)('carry frames through %s (%s) and back', async (_name, layer, tunnel) => {
    const port = new Port(open());
    const [out, back] = [sending(port), receiving(port)];
    const l3 = layer === 'l3';
    const data = headers(ether(MACS), ipv4(IPS), ...tunnel);
    const encap = dr.createActionPacketReformat(out.domain, {
      reformatType: l3 ? Type.L2_TO_L3_TUNNEL : Type.L2_TO_L2_TUNNEL,
      data,
    });
    dr.createRule(out.matcher, SMAC, [encap]);
    const decap = dr.createActionPacketReformat(back.domain, {
      reformatType: l3 ? Type.L3_TUNNEL_TO_L2 : Type.L2_TUNNEL_TO_L2,
      ...(l3 && { data: headers(ether({ ...MACS, etherType: 0x0800 })) }),
    });
    dr.createRule(back.matcher, SMAC, [decap, dr.createActionDestIbvQp(back.domain, port.qp)]);
    const frame = Buffer.concat([INNER, Buffer.alloc(924, 'b')]);
    for (let round = 0; round < 10; round++) {
      await port.send(frame);
      expect(hex((await port.receiveOne()).bytes)).toBe(hex(frame));
    }
  });
});

describe('refusals', () => {
  it('reformat by direction, size and level', () => {
    const { ctx } = new Port(open());
    const [rx, tx] = [dr.createDomain(ctx, dr.DomainType.NIC_RX), dr.createDomain(ctx, dr.DomainType.NIC_TX)];
    const make = (domain: typeof rx, reformatType: Type, data?: Uint8Array, flags = 0) =>
      code(() => dr.createActionPacketReformat(domain, { reformatType, flags, ...(data && { data }) }));
    expect(make(rx, Type.L2_TO_L2_TUNNEL, new Uint8Array(50))).toBe('EINVAL');
    expect(make(tx, Type.L2_TUNNEL_TO_L2)).toBe('EINVAL');
    expect(make(tx, Type.L2_TO_L2_TUNNEL, new Uint8Array(50), 2)).toBe('EINVAL');
    expect(make(tx, 9 as Type, new Uint8Array(50))).toBe('EINVAL');
    expect(make(tx, Type.L2_TO_L2_TUNNEL, new Uint8Array(50), dr.ActionFlags.ROOT_LEVEL)).toBe('');
    expect(code(() => dr.createActionPushVlan(tx, 0x0800_0064))).toBe('EINVAL');
    // libmlx5 copies these without a look at their size.
    for (const data of [undefined, new Uint8Array(), new Uint8Array(13), new Uint8Array(4096)]) {
      const attr = { reformatType: Type.L3_TUNNEL_TO_L2, ...(data && { data }) };
      expect(() => dr.createActionPacketReformat(rx, attr)).toThrow(/EINVAL.*data is the new Ethernet header/);
    }
  });

  it('a root table behind a sampler, and what is not linked', () => {
    const { ctx, qp } = new Port(open());
    const domain = dr.createDomain(ctx, dr.DomainType.NIC_RX);
    const sampleActions = [dr.createActionDestIbvQp(domain, qp)];
    const attr = { sampleRatio: 1, defaultNextTable: dr.createTable(domain, 0), sampleActions };
    expect(() => dr.createActionFlowSampler(domain, attr)).toThrow(/EINVAL.*attr\.defaultNextTable is a root table/);
    const unlink = () => {
      dr.unlinkAsoOtherDomain(devx.allocFlowCounter(ctx), domain);
    };
    expect(unlink).toThrow(/EINVAL.*obj is not linked with that domain/);
  });

  it('duplicates, when they are not allowed', () => {
    const port = new Port(open());
    const { domain, matcher } = receiving(port);
    const rule = () => dr.createRule(matcher, SMAC, [dr.createActionDestIbvQp(domain, port.qp)]);
    rule();
    expect(code(rule)).toBe('');
    domain.allowDuplicateRules(false);
    const other = { outer: { smac: '02:00:00:00:00:09' } };
    dr.createRule(matcher, other, [dr.createActionDrop(domain)]);
    expect(code(() => dr.createRule(matcher, other, [dr.createActionDrop(domain)]))).toBe('EEXIST');
  });

  it('say which action a rule does not take, and why', () => {
    const port = new Port(open());
    const { domain, matcher, table } = receiving(port);
    const refusal = (actions: dr.Action[], where = matcher) =>
      expect(() => dr.createRule(where, where === matcher ? SMAC : undefined, actions));
    const [qp, counter] = [dr.createActionDestIbvQp(domain, port.qp), devx.allocFlowCounter(port.ctx, { bulk: 128 })];
    const count = () => dr.createActionFlowCounter(domain, counter);
    refusal([count(), count(), qp]).toThrow(/EINVAL.*2 actions of the kind flow_counter; a rule takes 1/);
    expect(() => dr.createActionFlowCounter(domain, counter, 128)).toThrow(/^offset must be an integer from 0 to 127/);
    refusal([dr.createActionDestTable(domain, table)]).toThrow(
      /EINVAL.*actions\[0\] leads from a table of level 1 to one of level 1/,
    );
    const loop = dr.createActionDestArray(domain, [qp, dr.createActionDestTable(domain, table)]);
    refusal([loop]).toThrow(/EINVAL.*actions\[0\] leads from a table of level 1 to one of level 1/);
    // A value may end before the mask does, but not anywhere.
    for (const [size, reason] of [
      [64, /EINVAL.*2 actions of the kind tag/],
      [62, /EINVAL.*the value has 62 bytes, no multiple of 4/],
      [0, /EINVAL.*the value has no bytes/],
    ] as const) {
      const tags = [1, 2].map((tag) => dr.createActionTag(domain, tag));
      expect(() => dr.createRule(matcher, new Uint8Array(size), [...tags, qp])).toThrow(reason);
    }
    const { domain: other, table: others } = receiving(port);
    refusal([dr.createActionDestTable(other, others)]).toThrow(/EINVAL.*actions\[0\] is of another domain/);

    const modify = (flags: dr.ActionFlags | 0) =>
      dr.createActionModifyHeader(domain, { flags, actions: [{ add: 'ipv4_ttl', value: -1 }] });
    refusal([modify(dr.ActionFlags.ROOT_LEVEL), qp]).toThrow(/EINVAL.*actions\[0\] has ActionFlags\.ROOT_LEVEL/);
    const root = dr.createMatcher(dr.createTable(domain, 0), { priority: 3 });
    refusal([modify(0), qp], root).toThrow(/EINVAL.*modify_header needs flags: ActionFlags\.ROOT_LEVEL/);
    refusal([modify(dr.ActionFlags.ROOT_LEVEL)], root).toThrow(/EINVAL.*the root table of NIC_RX needs a destination/);
    refusal([dr.createActionPopVlan(domain), qp], root).toThrow(
      /EOPNOTSUPP.*actions\[0\] is pop_vlan, which the root table refuses/,
    );
    const wrong = { outer: { smac: MACS.src, udpDport: 1 } };
    expect(() => dr.createRule(matcher, wrong, [qp])).toThrow(
      /EINVAL.*the value has a bit outside of the matcher's mask/,
    );
  });

  it('domains that are not there', () => {
    const ctx = open();
    expect(code(() => dr.createDomain(ctx, 9 as never))).not.toBe('');
  });
});

describe('objects', () => {
  it('read each attribute once', () => {
    const { ctx } = new Port(open());
    const domain = dr.createDomain(ctx, dr.DomainType.NIC_RX);
    const read: string[] = [];
    const once = <T extends object>(attr: T) =>
      new Proxy(attr, { get: (of, name) => (read.push(String(name)), Reflect.get(of, name) as unknown) });
    const [nextTable, data] = [dr.createTable(domain, 1), headers(ether({ ...MACS, etherType: 0x0800 }))];
    const meter = once({ nextTable, active: true, regCIndex: 0, parameter: new Uint8Array(32) });
    expect(dr.createActionFlowMeter(domain, meter).nextTable).toBe(nextTable);
    dr.createActionPacketReformat(domain, once({ reformatType: Type.L3_TUNNEL_TO_L2, data, flags: 0 }));
    dr.createActionModifyHeader(domain, once({ flags: 0, actions: [{ set: 'udp_dport' as const, value: 1 }] }));
    expect(read.sort()).toEqual([
      'actions',
      'active',
      'data',
      'flags',
      'flags',
      'nextTable',
      'parameter',
      'reformatType',
      'regCIndex',
    ]);
  });

  it('close what depends on them first, and show what they are', () => {
    const port = new Port(open());
    const { domain, table, matcher } = receiving(port);
    const action = dr.createActionDestIbvQp(domain, port.qp);
    const rule = dr.createRule(matcher, SMAC, [action]);
    expect(inspect(rule)).toMatch(/^Rule #\d+ \{ priority: 0, actions: \[ 'dest_ibv_qp' \] \}$/);
    expect(inspect(domain)).toMatch(/^Domain #\d+ \{ type: NIC_RX \(\d\) \}$/);
    expect(inspect(table)).toMatch(/^Table #\d+ \{ level: 1 \}$/);
    action.close();
    expect([rule.closed, matcher.closed]).toEqual([true, false]);
    port.qp.close();
    table.close();
    expect(matcher.closed).toBe(true);
    domain.close();
    expect(() => dr.createTable(domain, 1)).toThrow(/ERR_VERBS_CLOSED/);
  });

  it('are dumped as text', () => {
    const port = new Port(open());
    const { domain, table, matcher } = receiving(port);
    const rule = dr.createRule(matcher, SMAC, [dr.createActionDestIbvQp(domain, port.qp)]);
    for (const each of [domain, table, matcher, rule]) expect(each.dump()).toMatch(/\S/);
    domain.sync(dr.DomainSyncFlags.SW | dr.DomainSyncFlags.HW);
    matcher.setLayout({ logNumOfRulesHint: 4 });
  });
});
