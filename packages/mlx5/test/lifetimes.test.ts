import { inspect } from 'node:util';
import { AccessFlags, objectCounts } from '@verbs/core';
import { describe, expect, it } from 'vitest';
import {
  createFlow,
  createFlowActionPacketReformat,
  createFlowMatcher,
  createSteeringAnchor,
  devx,
  FlowActionPacketReformatType as Type,
  FlowActionType,
  FlowTableType as Table,
} from '../src/index.js';
import { collect, collectUntil } from '../../core/test/shared/collect.js';
import { code, failure, open } from './helpers/devices.js';
import { INNER, Port } from './helpers/frames.js';

function parts() {
  const port = new Port(open());
  const matcher = createFlowMatcher(port.ctx, { ftType: Table.NIC_RX });
  const action = createFlowActionPacketReformat(port.ctx, {
    reformatType: Type.L2_TUNNEL_TO_L2,
    ftType: Table.NIC_RX,
  });
  const counter = devx.allocFlowCounter(port.ctx);
  const actions = [action, port.qp, { type: FlowActionType.COUNTERS_DEVX, obj: counter } as const];
  return { port, matcher, action, counter, flow: createFlow(matcher, undefined, actions) };
}

describe('closing', () => {
  it.each([
    ['matcher', [true, false, false]],
    ['action', [false, true, false]],
    ['counter', [false, false, false]],
    ['qp', [false, false, true]],
    ['context', [true, true, true]],
  ] as const)('the %s closes the flow first', (which, closed) => {
    const { port, matcher, action, counter, flow } = parts();
    ({ matcher, action, counter, qp: port.qp, context: port.ctx })[which].close();
    expect(flow.closed).toBe(true);
    expect([matcher.closed, action.closed, port.qp.closed]).toEqual(closed);
    flow.close();
    expect(flow.closed).toBe(true);
  });

  it('twice does nothing; use afterwards throws', () => {
    const { matcher, action, counter, flow, port } = parts();
    flow.close();
    flow.close();
    action.close();
    expect(failure(() => createFlow(matcher, undefined, [action, port.qp])).code).toBe('ERR_VERBS_CLOSED');
    matcher.close();
    expect(failure(() => createFlow(matcher, undefined, [port.qp])).message).toMatch(
      /the FlowMatcher in matcher is closed/,
    );
    counter.close();
    expect(failure(() => counter.read()).code).toBe('ERR_VERBS_CLOSED');
    port.ctx.close();
    expect(failure(() => createSteeringAnchor(port.ctx, { ftType: 0 })).code).toBe('ERR_VERBS_CLOSED');
  });

  it('happens at the end of a block', () => {
    const { flow, matcher } = parts();
    {
      using again = flow;
      expect(again.closed).toBe(false);
    }
    expect([flow.closed, matcher.closed]).toEqual([true, false]);
  });
});

describe('what is forgotten', () => {
  it('goes in the right order: the limit of actions is free again', async () => {
    const port = new Port(open('log_max_packet_reformat_context=2'));
    const attr = { reformatType: Type.L2_TO_L2_TUNNEL, ftType: Table.NIC_TX, data: new Uint8Array(50) };
    const make = () => {
      const matcher = createFlowMatcher(port.ctx, { ftType: Table.NIC_TX });
      createFlow(matcher, undefined, [createFlowActionPacketReformat(port.ctx, attr)]);
    };
    for (let i = 0; i < 4; i++) createFlowActionPacketReformat(port.ctx, attr);
    expect(code(() => createFlowActionPacketReformat(port.ctx, attr))).toBe('ENOMEM');
    let freed = false;
    expect(await collectUntil(() => (freed ||= code(make) === ''))).toBe(true);
  });

  it('stays as long as something needs it', async () => {
    const port = new Port(open());
    const flow = createFlow(createFlowMatcher(port.ctx, { ftType: Table.NIC_RX }), {}, [port.qp]);
    for (let i = 0; i < 5; i++) await collect();
    await port.send(INNER);
    expect((await port.receiveOne()).bytes).toHaveLength(INNER.byteLength);
    expect(flow.matcher.closed).toBe(false);
  });

  it('leaves the device the memory that a command names by number, until the context is closed', async () => {
    for (let i = 0; i < 5; i++) await collect(); // what other tests have left
    const before = objectCounts();
    const more = (name: string) => (objectCounts()[name] ?? 0) - (before[name] ?? 0);
    const ctx = open();
    const input = new Uint8Array(16 + 80 + 64);
    const bytes = new DataView(input.buffer);
    const [CREATE_CQ, CONTEXT] = [0x400, 16];
    (() => {
      const { umemId } = devx.regUmem(ctx, ctx.allocPd().allocMr(4096, AccessFlags.LOCAL_WRITE));
      bytes.setUint16(0, CREATE_CQ);
      bytes.setUint8(CONTEXT, 0x02); // dbr_umem_valid
      bytes.setUint32(CONTEXT + 4, umemId); // dbr_umem_id
      bytes.setUint8(CONTEXT + 12, 4); // log_cq_size
      bytes.setBigUint64(CONTEXT + 56, 2048n); // dbr_addr
      bytes.setUint32(88, umemId); // cq_umem_id
      bytes.setUint8(92, 0x80); // cq_umem_valid
    })();
    const cq = devx.createObj(ctx, input, 16);
    expect(await collectUntil(() => more("provider's object") === 1)).toBe(true);
    for (let i = 0; i < 5; i++) await collect();
    expect([more('MemoryRegion'), more('blockBytes') > 0, cq.closed]).toEqual([1, true, false]);
    ctx.close();
    expect(await collectUntil(() => more('MemoryRegion') === 0 && more('blockBytes') === 0)).toBe(true);
  });
});

it('objects show what they are', () => {
  const shown = (value: unknown) => inspect(value, { breakLength: 200 }).replace(/ #\d+/, '');
  const { flow, matcher, action, counter } = parts();
  expect(shown(flow)).toBe("Mlx5Flow { priority: 0, actions: [ 'IBV_FLOW_ACTION', 'DEST_IBV_QP', 'COUNTERS_DEVX' ] }");
  expect(shown(matcher)).toMatch(
    /^FlowMatcher \{ priority: 0, ftType: NIC_RX \(0\), matchCriteriaEnable: 0, maskSize: 384/,
  );
  expect(shown(action)).toBe('FlowAction { ftType: NIC_RX (0), reformatType: L2_TUNNEL_TO_L2 (0), dataSize: 0 }');
  expect(shown(counter)).toMatch(/DevxObject \{ id: \d+, size: 1 \}/);
  flow.close();
  expect(shown(flow)).toMatch(/^Mlx5Flow \(closed\)/);
});
