import { beforeEach, describe, expect, it } from 'vitest';
import {
  MemoryRegion,
  objectCounts,
  openObjects,
  QpState,
  QpType,
  type QueuePair,
  receiver,
  SendFlags,
  WrOpcode,
} from '../../src/index.js';
import { type Bench, bench, createQp, datagram, pair, QKEY } from '../helpers/devices.js';

const GRH = 40;
let b: Bench;

beforeEach(() => {
  b = bench();
});

async function send(qp: QueuePair, text: string): Promise<void> {
  const { written } = new TextEncoder().encodeInto(text, b.mr.bytes);
  await qp.send({ opcode: WrOpcode.SEND, sgList: [{ mr: b.mr, length: written }] });
}

/** The objects beyond that number are closed, and are counted until they are collected. */
async function collected(type: string, count: number | undefined): Promise<void> {
  for (let i = 0; i < 200 && objectCounts()[type] !== count; i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(objectCounts()[type]).toBe(count);
}

describe('a receiver of a connected queue pair', () => {
  it('gives the messages in their order, more than it has slots, and replies', async () => {
    const [one, two] = pair(b);
    const [client, server] = [receiver(one, { slots: 4, size: 64 }), receiver(two, { slots: 3, size: 64 })];
    const serving = (async () => {
      for await (const message of server) await message.reply(`${message.text()}!`);
    })();
    for (let i = 0; i < 50; i++) {
      await send(one, `message ${i}`);
      expect((await client.next())?.text()).toBe(`message ${i}!`);
    }
    server.close();
    await serving;
    expect(server.closed).toBe(true);
    server.close();
  });

  it('has the data of the message alone, and its completion', async () => {
    const [one, two] = pair(b);
    const messages = receiver(two, { size: 16 });
    b.mr.bytes.set(new TextEncoder().encode('{"a":1}'));
    await one.send({ opcode: WrOpcode.SEND_WITH_IMM, immData: 77, sgList: [{ mr: b.mr, length: 7 }] });
    const message = await messages.next();
    expect(message).toMatchObject({ data: { byteLength: 7 }, wc: { immData: 77 } });
    expect(message?.json()).toEqual({ a: 1 });
    const copy = message?.data.slice();
    for (let i = 0; i < 40; i++) await send(one, 'overwritten').then(() => messages.next());
    expect(message?.data).toEqual(copy);
    // A write with immediate data has its bytes elsewhere.
    const write = { opcode: WrOpcode.RDMA_WRITE_WITH_IMM, immData: 5, remoteAddr: b.mr.addr, rkey: b.mr.rkey };
    await one.send({ ...write, sgList: [{ mr: b.mr, length: 8 }] });
    expect(await messages.next()).toMatchObject({ data: { byteLength: 0 }, wc: { immData: 5 } });
  });

  it('stops its peer while the program takes nothing, and loses nothing', async () => {
    const [one, two] = pair(b);
    const messages = receiver(two, { slots: 4, size: 64 });
    let sent = 0;
    const sending = (async () => {
      for (let i = 0; i < 20; i++) {
        await send(one, `${i}`);
        sent++;
      }
    })();
    await expect.poll(() => sent, { timeout: 20_000 }).toBe(4);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(sent).toBe(4);
    for (let i = 0; i < 20; i++) expect((await messages.next())?.text()).toBe(`${i}`);
    await sending;
  });

  it('next() ends with its signal and loses no message by that', async () => {
    const [one, two] = pair(b);
    const messages = receiver(two);
    for (let i = 0; i < 40; i++) {
      const controller = new AbortController();
      const next = messages.next({ signal: controller.signal });
      controller.abort(new Error('enough'));
      await expect(next).rejects.toThrow('enough');
    }
    const waiting = messages.next();
    await send(one, 'here');
    expect((await waiting)?.text()).toBe('here');
  });

  it('gives out what has arrived, and then the error of its queue pair', async () => {
    const [one, two] = pair(b);
    const messages = receiver(two);
    await send(one, 'last words');
    await new Promise(setImmediate);
    two.modify({ qpState: QpState.ERR });
    expect((await messages.next())?.text()).toBe('last words');
    await expect(messages.next()).rejects.toMatchObject({ code: 'WC_WR_FLUSH_ERR' });
    messages.close();
    expect(await messages.next()).toBeUndefined();
  });

  it('gives out what has arrived when its queue pair is closed, and then the end', async () => {
    // Nobody polls its queue for anything else.
    const [one, two] = pair(b, undefined, b.ctx.createCq(64, { channel: b.channel }));
    const messages = receiver(two);
    for (const text of ['one', 'two', 'three']) await send(one, text);
    expect((await messages.next())?.text()).toBe('one');
    two.close();
    const rest: string[] = [];
    for await (const message of messages) rest.push(message.text());
    expect(rest).toEqual(['two', 'three']);
  });

  it('ends with its queue pair, and frees its memory then', async () => {
    const [one, two] = pair(b);
    await collected('MemoryRegion', 1);
    const use = async () => {
      one.postRecv({ sgList: [{ mr: b.mr, length: 8 }] });
      const messages = receiver(two);
      await send(one, 'one');
      await (await messages.next())?.reply('two');
      const ended = messages.next();
      two.close();
      expect(await ended).toBeUndefined();
      expect(messages.closed).toBe(true);
      messages.close();
    };
    await use();
    await collected('MemoryRegion', 1);
  });

  it('leaves its posted requests to the next receiver, or to recv', async () => {
    const [one, two] = pair(b);
    receiver(two, { slots: 2, size: 64 }).close();
    await send(one, 'first');
    const second = receiver(two, { slots: 3, size: 128 });
    await send(one, 'second');
    expect((await second.next())?.text()).toBe('first');
    expect((await second.next())?.text()).toBe('second');
    second.close();
    const received = two.recv({ sgList: [{ mr: b.mr, offset: 1024, length: 256 }] });
    await send(one, 'third');
    expect((await received).byteLen).toBe(5);
    expect(new TextDecoder().decode(b.mr.bytes.subarray(1024, 1029))).toBe('third');
  });

  it('replies with data as it was when reply was called, also if it waits for a buffer', async () => {
    const [one, two] = pair(b);
    const [client, server] = [receiver(one, { slots: 8, size: 8 }), receiver(two, { slots: 1, size: 8 })];
    await send(one, 'go');
    const message = await server.next();
    const data = new Uint8Array(1);
    const replies = [1, 2, 3, 4].map((value) => {
      data[0] = value;
      if (message === undefined) throw new Error('no message');
      return message.reply(data);
    });
    data[0] = 9;
    await Promise.all(replies);
    for (const value of [1, 2, 3, 4]) expect((await client.next())?.data).toEqual(Uint8Array.of(value));
  });

  it('rejects what it cannot do, by name', async () => {
    const [one, two] = pair(b);
    expect(() => receiver({} as never)).toThrow(/^qp must be a QueuePair/);
    expect(() => receiver(two, { slots: 0 })).toThrow(/^options\.slots/);
    expect(() => receiver(two, { slots: 17 })).toThrow(/^options\.slots must be at most cap\.maxRecvWr, 16/);
    expect(() => receiver(two, { length: 1 } as never)).toThrow(/length/);
    expect(() => receiver(createQp(b))).toThrow(/EINVAL.*takes receive requests from INIT on/);
    const srq = b.pd.createSrq({ maxWr: 4 });
    const shared = b.pd.createQp({
      qpType: QpType.RC,
      sendCq: b.cq,
      recvCq: b.cq,
      srq,
      cap: { maxSendWr: 1, maxRecvWr: 0 },
    });
    expect(() => receiver(shared)).toThrow(/receive queue of its own/);
    const messages = receiver(two, { size: 8 });
    await send(one, 'x');
    const message = await messages.next();
    await expect(message?.reply(new Uint8Array(9))).rejects.toThrow(/^data\.byteLength must be at most 8/);
    await expect(message?.reply(5 as never)).rejects.toThrow(/^data must be/);
    await expect(message?.reply('x', { immData: -1 })).rejects.toThrow(/^options\.immData/);
    messages.close();
    await expect(message?.reply('x')).rejects.toMatchObject({ code: 'ERR_VERBS_CLOSED' });
  });
});

describe('a receiver of datagrams', () => {
  const sendTo = (from: QueuePair, to: QueuePair, ah: ReturnType<typeof route>, length: number) =>
    from.send({
      opcode: WrOpcode.SEND,
      sendFlags: SendFlags.SIGNALED,
      sgList: [{ mr: b.mr, length }],
      ah,
      remoteQpn: to.qpNum,
      remoteQkey: QKEY,
    });
  const route = () => b.pd.createAh({ portNum: 1, grh: { dgid: b.ctx.defaultGid().gid } });

  it('replies to the sender of each, with one address handle for each sender', async () => {
    const clients = [datagram(b), datagram(b)];
    const server = datagram(b);
    const messages = receiver(server, { slots: 8, size: 256 });
    const answers = clients.map((qp) => receiver(qp, { slots: 8, size: 256 }));
    const ah = route();
    await collected('AddressHandle', 1);
    for (let i = 0; i < 20; i++) {
      b.mr.bytes.fill(i, 0, 100);
      const client = clients[i % 2];
      if (client === undefined) throw new Error();
      await sendTo(client, server, ah, 100);
      const message = await messages.next();
      expect(message?.data).toEqual(new Uint8Array(100).fill(i));
      expect(message?.wc.byteLen).toBe(100 + GRH);
      await message?.reply(Uint8Array.of(i, 1), { immData: i });
      const answer = await answers[i % 2]?.next();
      expect(answer?.data).toEqual(Uint8Array.of(i, 1));
      expect(answer?.wc).toMatchObject({ immData: i, srcQp: server.qpNum });
    }
    // Both clients have the same address.
    expect(objectCounts()['AddressHandle']).toBe(2);
    messages.close();
    await collected('AddressHandle', 1);
  });

  it('replies with another qkey where one is given', async () => {
    const [client, server] = [createQp(b, QpType.UD), datagram(b)];
    client.activate({ qkey: 0x77 });
    const [answers, messages] = [receiver(client), receiver(server)];
    await sendTo(client, server, route(), 3);
    const message = await messages.next();
    await message?.reply('dropped');
    await message?.reply('taken', { remoteQkey: 0x77 });
    expect((await answers.next())?.text()).toBe('taken');
  });
});

it('the memory of a receiver goes with it, or with its queue pair', () => {
  const plain = createQp(b);
  for (let i = 0; i < 3; i++) expect(() => receiver(plain)).toThrow(/is in RESET/);
  plain.init();
  for (let i = 0; i < 3; i++) receiver(plain, { slots: 2 }).close();
  expect(openObjects().filter((object) => object instanceof MemoryRegion)).toHaveLength(1 + 3);
  plain.close();
  expect(openObjects().filter((object) => object instanceof MemoryRegion)).toHaveLength(1);
  expect(() => receiver(createQp(b), { slots: 16, size: 2 ** 30 })).not.toThrow(/^length/);
});
