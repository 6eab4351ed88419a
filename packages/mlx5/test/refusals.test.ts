import { FlowFlags, QpType } from '@verbs/core';
import { describe, expect, it } from 'vitest';
import {
  createFlow,
  createFlowActionModifyHeader,
  createFlowActionPacketReformat,
  createFlowMatcher,
  createSteeringAnchor,
  devx,
  FlowActionPacketReformatType as Type,
  FlowActionType,
  FlowTableType as Table,
  MatchCriteria,
  openDevice,
} from '../src/index.js';
import { code, failure, open, owned } from './helpers/devices.js';
import { Port } from './helpers/frames.js';

const bytes = (size: number) => new Uint8Array(size);

describe('packet reformat', () => {
  const reformat = (reformatType: number, ftType: number, data?: Uint8Array, options = '') => {
    const ctx = open(options);
    return failure(() => createFlowActionPacketReformat(ctx, { reformatType, ftType, ...(data && { data }) }));
  };

  it.each<[number, number]>([
    [Type.L2_TUNNEL_TO_L2, Table.NIC_TX],
    [Type.L3_TUNNEL_TO_L2, Table.NIC_TX],
    [Type.L2_TO_L2_TUNNEL, Table.NIC_RX],
    [Type.L2_TO_L3_TUNNEL, Table.NIC_RX],
    ...Object.values(Type).flatMap((type) => [2, 3, 4, 5, 6, 7].map((table): [number, number] => [type, table])),
    [4, Table.NIC_TX],
    [0xffffffff, Table.NIC_RX],
  ])('of type %i is not for table type %i', (type, table) => {
    // Also without data: the direction is looked at first.
    expect(reformat(type, table).code).toBe('EOPNOTSUPP');
    expect(reformat(type, table, bytes(15)).code).toBe('EOPNOTSUPP');
  });

  it('says which direction would do', () => {
    expect(reformat(Type.L2_TUNNEL_TO_L2, Table.NIC_TX).message).toMatch(/decapsulation is for FlowTableType\.NIC_RX/);
    expect(reformat(Type.L2_TO_L2_TUNNEL, Table.FDB).message).toMatch(/encapsulation is for FlowTableType\.NIC_TX/);
    expect(reformat(9, Table.FDB).message).toMatch(/the valid types are those of FlowActionPacketReformatType/);
  });

  it.each([
    [Type.L2_TO_L2_TUNNEL, Table.NIC_TX, /give data: the headers to put in front/],
    [Type.L2_TO_L3_TUNNEL, Table.NIC_TX, /give data: the headers to put in front/],
    [Type.L3_TUNNEL_TO_L2, Table.NIC_RX, /give data: the new Ethernet header .* 14 or 18 bytes/],
  ])('of type %i without data is ENOENT, and says what to give', (type, table, message) => {
    const error = reformat(type, table);
    expect(error).toMatchObject({ code: 'ENOENT', syscall: 'mlx5dv_create_flow_action_packet_reformat' });
    expect(error.message).toMatch(message);
  });

  it('with an empty buffer is EINVAL, whatever the type', () => {
    for (const type of [Type.L2_TO_L2_TUNNEL, Type.L2_TO_L3_TUNNEL]) {
      expect(reformat(type, Table.NIC_TX, bytes(0)).message).toMatch(/EINVAL.*data has no bytes: leave it out/);
    }
    expect(reformat(Type.L2_TUNNEL_TO_L2, Table.NIC_RX, bytes(0)).code).toBe('EINVAL');
  });

  it('takes headers up to the limit of the device, of an even size', () => {
    const ctx = open('max_encap_header_size=128');
    const make = (size: number) => () =>
      createFlowActionPacketReformat(ctx, {
        reformatType: Type.L2_TO_L2_TUNNEL,
        ftType: Table.NIC_TX,
        data: bytes(size),
      });
    expect(code(make(128))).toBe('');
    expect(make(130)).toThrow(/EINVAL.*data has 130 bytes: compare with maxEncapHeaderSize/);
    expect(make(65536)).toThrow(/attr\.data\.byteLength must be at most 65535; received 65536/);
    expect(make(51)).toThrow(/EINVAL.*units of 2 bytes, and data has 51/);
  });

  it('L3_TUNNEL_TO_L2 takes 14 and 18 bytes, and explains any other size', () => {
    const ctx = open();
    const make = (size: number) => () =>
      createFlowActionPacketReformat(ctx, {
        reformatType: Type.L3_TUNNEL_TO_L2,
        ftType: Table.NIC_RX,
        data: bytes(size),
      });
    for (const size of [14, 18]) expect(code(make(size))).toBe('');
    for (const size of [1, 13, 15, 16, 17, 19, 50]) {
      expect(make(size)).toThrow(/EINVAL.*14 bytes \(dmac, smac, ethertype\) or 18 \(with a VLAN tag\), not \d+/);
    }
  });

  it('L2_TUNNEL_TO_L2 ignores data', () => {
    const attr = { reformatType: Type.L2_TUNNEL_TO_L2, ftType: Table.NIC_RX, data: bytes(3) };
    const ctx = open();
    expect(code(() => createFlowActionPacketReformat(ctx, attr))).toBe('');
  });

  it('that the device cannot do is EOPNOTSUPP', () => {
    const error = reformat(Type.L2_TUNNEL_TO_L2, Table.NIC_RX, undefined, 'decap=0');
    expect(error.message).toMatch(/EOPNOTSUPP.*the device or its firmware does not support it/);
    expect(reformat(Type.L2_TO_L2_TUNNEL, Table.NIC_TX, bytes(50), 'encap_general_header=0').code).toBe('EOPNOTSUPP');
  });
});

describe('matchers', () => {
  it('take the direction from the flag or from the table type, not from both', () => {
    const ctx = open();
    const make = (attr: object) => () => createFlowMatcher(ctx, attr);
    expect(code(make({ flags: FlowFlags.EGRESS }))).toBe('');
    expect(code(make({ ftType: Table.NIC_TX }))).toBe('');
    expect(code(make({ ftType: Table.NIC_TX, flags: FlowFlags.EGRESS }))).toBe('EINVAL');
    // The table type does not count without its bit.
    expect(code(make({ ftType: Table.NIC_TX, flags: FlowFlags.EGRESS, compMask: 0 }))).toBe('');
    expect(code(make({ ftType: Table.FDB }))).toBe('EINVAL');
  });

  it('refuse unknown bits and types, and masks of no size', () => {
    const ctx = open();
    expect(code(() => createFlowMatcher(ctx, { compMask: 1n << 40n }))).toBe('EOPNOTSUPP');
    expect(code(() => createFlowMatcher(ctx, { type: 1 }))).toBe('EOPNOTSUPP');
    expect(code(() => createFlowMatcher(ctx, { ibPort: 1 }))).toBe('EOPNOTSUPP');
    // The library takes no table that the mask leaves out.
    const masked = createFlowMatcher(ctx, { ftType: Table.NIC_TX, compMask: 0 });
    expect([masked.ftType, masked.table]).toEqual([undefined, Table.NIC_RX]);
    expect(createFlowMatcher(ctx, { ftType: Table.NIC_TX, compMask: 1 }).ftType).toBe(Table.NIC_TX);
    expect(code(() => createFlowMatcher(ctx, { matchMask: bytes(0) }))).toBe('EINVAL');
    expect(code(() => createFlowMatcher(ctx, { matchMask: bytes(641) }))).toBe('EINVAL');
    // Any size between, also one that is no multiple of anything.
    const smac = { matchMask: bytes(6).fill(0xff), matchCriteriaEnable: MatchCriteria.OUTER };
    expect(code(() => createFlowMatcher(ctx, smac))).toBe('');
  });
});

describe('flows', () => {
  const receiver = () => {
    const port = new Port(open());
    const matcher = createFlowMatcher(port.ctx, { ftType: Table.NIC_RX, matchMask: { outer: { udpDport: 1 } } });
    return { ctx: port.ctx, qp: port.qp, matcher };
  };

  it('have a value within the mask', () => {
    const { matcher, qp } = receiver();
    const outside = matcher.matchMask.slice();
    outside[0] = 1;
    expect(() => createFlow(matcher, outside, [qp])).toThrow(
      /EINVAL.*a bit outside of the matcher's mask, in its byte 0/,
    );
    expect(code(() => createFlow(matcher, bytes(0), [qp]))).toBe('EINVAL');
  });

  it('have one destination, which receives frames', () => {
    const { ctx, matcher, qp } = receiver();
    const drop = { type: FlowActionType.DROP } as const;
    expect(() => createFlow(matcher, undefined, [qp, drop])).toThrow(/EOPNOTSUPP.*2 destinations; a flow takes one/);
    expect(code(() => createFlow(matcher, undefined, [qp, qp]))).toBe('EOPNOTSUPP');
    const cq = ctx.createCq(4);
    const cap = { maxSendWr: 1, maxRecvWr: 1 };
    const ud = ctx.allocPd().createQp({ qpType: QpType.UD, sendCq: cq, recvCq: cq, cap });
    expect(() => createFlow(matcher, undefined, [ud])).toThrow(/EINVAL.*actions\[0\] is a queue pair of another type/);
    expect(() => createFlow(matcher, undefined, [])).toThrow(/EINVAL.*a flow of NIC_RX needs a destination/);
    const tx = createFlowMatcher(ctx, { ftType: Table.NIC_TX });
    expect(code(() => createFlow(tx, undefined, [{ type: FlowActionType.DEFAULT_MISS }]))).toBe('EOPNOTSUPP');
  });

  it('have a tag of 24 bits, once', () => {
    const { matcher, qp } = receiver();
    const tag = (tagValue: number) => ({ type: FlowActionType.TAG, tagValue }) as const;
    expect(() => createFlow(matcher, undefined, [tag(0x1000000), qp])).toThrow(
      /EINVAL.*actions\[0\]\.tagValue is 16777216/,
    );
    expect(() => createFlow(matcher, undefined, [tag(1), tag(2), qp])).toThrow(/EINVAL.*2 tags; a flow takes one/);
    expect(code(() => createFlow(matcher, undefined, [tag(0xffffff), qp]))).toBe('');
  });

  it('have at most two flow actions, of different kinds, and no unknown ones', () => {
    const { ctx, matcher, qp } = receiver();
    const decap = () =>
      createFlowActionPacketReformat(ctx, { reformatType: Type.L2_TUNNEL_TO_L2, ftType: Table.NIC_RX });
    const modify = () =>
      createFlowActionModifyHeader(ctx, { ftType: Table.NIC_RX, actions: [{ set: 'ip_dscp', value: 1 }] });
    expect(() => createFlow(matcher, undefined, [decap(), decap(), qp])).toThrow(
      /EINVAL.*two flow actions of one kind/,
    );
    expect(code(() => createFlow(matcher, undefined, [modify(), modify(), qp]))).toBe('EINVAL');
    const many = Array.from({ length: 9 }, decap);
    expect(() => createFlow(matcher, undefined, [...many, qp])).toThrow(/EOPNOTSUPP.*10 actions; a flow takes 8/);
    const unknown = { type: 99 as number } as never;
    expect(() => createFlow(matcher, undefined, [unknown, qp])).toThrow(
      /^actions\[0\]\.type must be one of FlowActionType; received 99/,
    );
    const counter = { type: FlowActionType.IBV_COUNTER, counter: undefined } as never;
    expect(() => createFlow(matcher, undefined, [counter])).toThrow(/actions\[0\]\.counter must be a Counters/);
    expect(code(() => createFlow(matcher, undefined, [decap(), modify(), qp]))).toBe('');
  });

  it('with the same match must not contradict: EEXIST; forwarding alone adds a receiver', () => {
    const { ctx, matcher, qp } = receiver();
    const match = { outer: { udpDport: 4789 } };
    createFlow(matcher, match, [qp]);
    expect(code(() => createFlow(matcher, match, [new Port(ctx).qp]))).toBe('');
    const contradiction = () => createFlow(matcher, match, [{ type: FlowActionType.DROP }]);
    expect(contradiction).toThrow(/EEXIST.*another flow with the same match/);
  });

  it('have priorities up to 15, which shows at the first flow', () => {
    const { ctx, qp } = receiver();
    const matcher = createFlowMatcher(ctx, { priority: 16 });
    expect(() => createFlow(matcher, undefined, [qp])).toThrow(
      /ENOMEM.*the matcher's priority is 16; they are 0 to 15/,
    );
    expect(code(() => createFlow(createFlowMatcher(ctx, { priority: 15 }), undefined, [qp]))).toBe('');
  });

  it('of other contexts do not mix', () => {
    const one = receiver();
    const other = new Port(owned(openDevice('mlx5_soft0')));
    expect(() => createFlow(one.matcher, undefined, [other.qp])).toThrow(
      /EINVAL.*actions\[0\] is of another open device than the matcher/,
    );
  });

  it('have actions of their direction, and a counter of the bulk', () => {
    const { ctx, matcher, qp } = receiver();
    const attr = { reformatType: Type.L2_TO_L2_TUNNEL, ftType: Table.NIC_TX, data: bytes(50) };
    expect(() => createFlow(matcher, undefined, [createFlowActionPacketReformat(ctx, attr), qp])).toThrow(
      /EINVAL.*actions\[0\] was made for flows of NIC_TX, and the matcher is of NIC_RX/,
    );
    for (const to of [{ ftType: Table.NIC_TX }, { flags: FlowFlags.EGRESS }]) {
      expect(() => createFlow(createFlowMatcher(ctx, to), undefined, [qp])).toThrow(
        /EINVAL.*actions\[0\] is a queue pair, to which flows of NIC_RX deliver/,
      );
    }
    const obj = devx.allocFlowCounter(ctx, { bulk: 128 });
    const count = { type: FlowActionType.COUNTERS_DEVX_WITH_OFFSET, obj, offset: 128 };
    expect(() => createFlow(matcher, undefined, [count, qp])).toThrow(
      /EINVAL.*actions\[0\]\.offset is 128; the bulk has 128 counters, from 0/,
    );
  });
});

describe('modify header', () => {
  it.each([
    [Table.NIC_RX, bytes(8), ''],
    [Table.NIC_RX, bytes(9), 'EINVAL'],
    [Table.RDMA_RX, bytes(8), 'EOPNOTSUPP'],
    [99, bytes(8), 'EINVAL'],
    [Table.NIC_TX, bytes(8 * 17), 'EOPNOTSUPP'],
  ])('for table type %i with %o: %s', (ftType, actions, expected) => {
    actions[0] = 0x10;
    actions[1] = 0x16;
    const ctx = open();
    expect(code(() => createFlowActionModifyHeader(ctx, { ftType, actions }))).toBe(expected);
  });
});

it('steering anchors have a number', () => {
  const ctx = open();
  const anchor = createSteeringAnchor(ctx, { ftType: Table.NIC_RX, priority: 1 });
  expect(anchor.id).toBeGreaterThan(0);
  expect(code(() => createSteeringAnchor(ctx, { ftType: 99 as number }))).toBe('EINVAL');
});
