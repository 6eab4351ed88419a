import { softNic } from '@verbs/soft';
import { afterEach, describe, expect, it } from 'vitest';
import { type AsyncEvent, type Context, PortState, SendFlags, WcStatus, WrOpcode } from '../../src/index.js';
import { bench, open, pair, take } from '../helpers/devices.js';

// What the software NIC is made to do, as a program of this package sees it.
const nic = softNic('soft0');

afterEach(() => {
  nic.setLinkUp();
  nic.setMtu(4096);
  nic.faults.clear();
});

/** Reads events, from now on. */
function events(ctx: Context): () => Promise<AsyncEvent> {
  const iterator = ctx.asyncEvents();
  return async () => {
    const next = await iterator.next();
    if (next.done === true) throw new Error('the context was closed');
    return next.value;
  };
}

const send = { wrId: 1, opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [] };

describe('the link', () => {
  it('goes down, is told, and ends transfers; then it is up again', async () => {
    const b = bench();
    const next = events(b.ctx);
    const [one] = pair(b);
    nic.setLinkDown(1);
    expect(b.ctx.queryPort(1).state).toBe(PortState.DOWN);
    expect(await next()).toMatchObject({ name: 'PORT_ERR', portNum: 1 });
    one.postSend(send);
    expect((await take(b.cq, 1))[0]).toMatchObject({ status: WcStatus.RETRY_EXC_ERR });
    nic.setLinkUp();
    expect(b.ctx.queryPort(1).state).toBe(PortState.ACTIVE);
    expect(await next()).toMatchObject({ name: 'PORT_ACTIVE', portNum: 1 });
  });

  it('has another MTU', () => {
    const ctx = open();
    nic.setMtu(512);
    expect(ctx.queryPort(1)).toMatchObject({ activeMtu: 2, maxMtu: 5 });
  });
});

describe('the GID table', () => {
  it('changes', async () => {
    const ctx = open();
    const next = events(ctx);
    const before = ctx.gidTable(1).length;
    const index = nic.addGid('127.9.9.9');
    expect(await next()).toMatchObject({ name: 'GID_CHANGE', portNum: 1 });
    expect(ctx.queryGid(1, index)).toBe('::ffff:127.9.9.9');
    expect(ctx.gidTable(1)).toHaveLength(before + 1);
    expect(() => nic.addGid('192.0.2.1')).toThrow(/EADDRNOTAVAIL: .*192.0.2.1 is not one of this machine/);
    nic.removeGid('127.9.9.9');
    expect(await next()).toMatchObject({ name: 'GID_CHANGE' });
    expect(ctx.gidTable(1)).toHaveLength(before);
    expect(() => {
      nic.removeGid('127.9.9.9');
    }).toThrow(/ENOENT/);
  });
});

describe('a fault plan', () => {
  it('loses the packet that it names, which is sent again', async () => {
    const b = bench();
    const [one, two] = pair(b);
    two.postRecv([{ wrId: 10 }, { wrId: 11 }]);
    nic.faults.set({ drop: true, opcode: 'RC SEND Only', qpn: two.qpNum, psn: 101, count: 1 }, { seed: 5 });
    const before = nic.stats();
    one.postSend([send, { ...send, wrId: 2 }]);
    for (const wc of await take(b.cq, 4)) expect(wc).toMatchObject({ ok: true });
    const after = nic.stats();
    expect((after['retransmitted_pkts'] ?? 0n) - (before['retransmitted_pkts'] ?? 0n)).toBeGreaterThan(0n);
    expect((after['fault_dropped'] ?? 0n) - (before['fault_dropped'] ?? 0n)).toBe(1n);
    const { seed, rules } = nic.faults.get();
    expect(seed).toBe(5n);
    expect(rules[0]?.hits).toBe(1n);
    expect(rules[0]?.matched).toBeGreaterThanOrEqual(2n);
  });
});

describe('a device that fails', () => {
  it('has an event and flushes its work', async () => {
    const b = bench();
    const next = events(b.ctx);
    const [one] = pair(b);
    one.postRecv({ wrId: 4 });
    nic.fail();
    expect((await take(b.cq, 1))[0]).toMatchObject({ wrId: 4, status: WcStatus.WR_FLUSH_ERR });
    expect(await next()).toMatchObject({ name: 'DEVICE_FATAL' });
  });
});
