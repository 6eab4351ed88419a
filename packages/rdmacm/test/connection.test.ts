// Connections within a process, over the software NIC.
import { once } from 'node:events';
import { type Context, QpState } from '@verbs/core';
import { expect, it } from 'vitest';
import {
  type CmEvent,
  connect,
  Connection,
  ConnectionError,
  ConnectionRequest,
  createEventChannel,
  getDevices,
  PortSpace,
  RejectReason,
  Server,
} from '../src/index.js';
import { kWatcher } from '../src/base/symbols.js';
import { Inbox } from '../src/service/inbox.js';
import { keep, pair, portOf, region, send, server, text } from './helpers/connections.js';

it('echoes, both ways', async () => {
  const [one, other] = await pair();
  expect(await send(one, other, 'there')).toBe('there');
  expect(await send(other, one, 'and back')).toBe('and back');
  expect(one.qp.query().attr.qpState).toBe(QpState.RTS);
  expect(one.remoteAddress).toEqual(other.localAddress);
  expect(other.remoteAddress).toEqual(one.localAddress);
});

it('brings private data to both sides', async () => {
  const listening = server();
  const accepted = listening.request().then((request) => {
    expect(text(request.privateData)).toBe('may I?');
    expect(request.privateData).toHaveLength(56);
    return request.accept({ privateData: Uint8Array.of(1, 2, 3) });
  });
  const one = keep(await connect({ port: portOf(listening), privateData: 'may I?' }));
  keep(await accepted);
  expect([...one.privateData.slice(0, 4)]).toEqual([1, 2, 3, 0]);
});

it('tells of a rejection with its private data and reason', async () => {
  const listening = server();
  void (async () => {
    for await (const request of listening) request.reject({ privateData: 'not today' });
  })();
  const error: unknown = await connect({ port: portOf(listening) }).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toMatchObject({ code: 'REJECTED', reason: 'CONSUMER_DEFINED', status: RejectReason.CONSUMER_DEFINED });
  expect(text((error as ConnectionError).privateData ?? new Uint8Array())).toBe('not today');
  expect((error as Error).message).toMatch(/the peer's program rejected the request/);
});

it('tells that nobody listens', async () => {
  await expect(connect({ port: 9 })).rejects.toMatchObject({
    code: 'REJECTED',
    reason: 'INVALID_SERVICE_ID',
    message: expect.stringMatching(/nobody listens/) as string,
  });
});

it('tells of an address that no device leads to', async () => {
  await expect(connect({ port: 9, localAddress: '192.0.2.77' })).rejects.toMatchObject({
    code: 'ADDR_ERROR',
  });
});

it("tells that this side's address is of another family than the peer's", async () => {
  const mixed = { host: '127.0.0.1', port: 9, localAddress: '::1', library: 'soft' } as const;
  await expect(connect(mixed)).rejects.toMatchObject({
    code: 'ADDR_ERROR',
    message: expect.stringMatching(
      /to 127\.0\.0\.1 port 9: options\.localAddress ::1 is of the other family/,
    ) as string,
  });
});

it('tells at once of an address that no route leads to', async () => {
  // TEST-NET-3, from a loopback address.
  await expect(
    connect({ host: '203.0.113.9', port: 9, localAddress: '127.0.0.1', library: 'soft' }),
  ).rejects.toMatchObject({
    code: 'ADDR_ERROR',
  });
});

it('rejects too much private data, and what is closed', async () => {
  const listening = server();
  const port = portOf(listening);
  await expect(connect({ port, privateData: new Uint8Array(57) })).rejects.toMatchObject({
    code: 'EINVAL',
    syscall: 'rdma_connect',
    message: expect.stringMatching(
      /privateData has 57 bytes, and a request of a connection has room for 56$/,
    ) as string,
  });
  const closed = listening.request();
  listening.close();
  await expect(closed).rejects.toMatchObject({ code: 'ERR_VERBS_CLOSED' });
  await expect(listening.request()).rejects.toMatchObject({ code: 'ERR_VERBS_CLOSED' });
});

it('rejects a second listener at the port', () => {
  const taken = (code: string, message: RegExp) =>
    expect.objectContaining({ code, message: expect.stringMatching(message) as string }) as Error;
  const everywhere = server();
  expect(() => server({ port: portOf(everywhere) })).toThrow(
    taken('EADDRNOTAVAIL', /port \d+: another identifier has port \d+: choose another one/),
  );
  const [host = ''] = everywhere.addresses();
  const one = server({ host });
  expect(() => server({ host, port: portOf(one) })).toThrow(taken('EADDRINUSE', /another identifier has this port/));
});

it('ends an iteration when the server is closed, and rejects what waits', async () => {
  const listening = server();
  const refused = connect({ port: portOf(listening) });
  const failed = expect(refused).rejects.toMatchObject({ code: 'REJECTED' });
  let requests = 0;
  for await (const request of listening) {
    requests++;
    expect(request.remoteAddress?.family).toBe(4);
    listening.close();
    request.close();
  }
  expect(requests).toBe(1);
  await failed;
});

it('disconnects: an event on the other side, the queue pairs in ERR, outstanding requests flushed', async () => {
  const [one, other] = await pair();
  const flushed = other.qp.recv({ sgList: [{ mr: region(other) }] });
  const failed = expect(flushed).rejects.toMatchObject({ message: expect.stringMatching(/WR_FLUSH_ERR/) as string });
  const event = once(other, 'disconnected');
  await one.disconnect();
  await event;
  await failed;
  expect([one.connected, other.connected]).toEqual([false, false]);
  expect(other.qp.query().attr.qpState).toBe(QpState.ERR);
  await one.disconnect();
  await other.whenDisconnected();
  expect(other.closed).toBe(false);
});

it('tells also of an end that came before the program had the connection', async () => {
  const [{ qp, pd }] = await pair();
  const id = keep(createEventChannel({ library: 'soft' })).createId();
  const inbox = new Inbox(id);
  inbox.onEvent({ name: 'DISCONNECTED', id } as CmEvent);
  // As accept() and connect() resolve with it.
  const connection = await Promise.resolve().then(() => new Connection(inbox, { qp, pd, own: [] }, undefined));
  expect(connection.connected).toBe(false);
  await once(connection, 'disconnected');
});

it('close() ends the connection for the peer, too', async () => {
  const [one, other] = await pair();
  one.close();
  one.close();
  expect([one.closed, one.qp.closed, one.pd.closed]).toEqual([true, true, true]);
  await other.whenDisconnected();
});

it('disposes asynchronously', async () => {
  const [one, other] = await pair();
  {
    await using connection = one;
    expect(connection.connected).toBe(true);
  }
  expect([one.closed, other.connected]).toEqual([true, false]);
});

it('takes a protection domain and queues of the program, of the right context', async () => {
  const listening = server();
  let made: { context: Context; pd: ReturnType<Context['allocPd']> } | undefined;
  const accepted = listening.request().then((request) => request.accept());
  const one = keep(
    await connect({
      port: portOf(listening),
      qp: (context) => {
        made = { context, pd: context.allocPd() };
        return { pd: made.pd, cap: { maxSendWr: 4, maxRecvWr: 4 } };
      },
    }),
  );
  const other = keep(await accepted);
  expect(one.pd).toBe(made?.pd);
  expect(one.context).toBe(other.context);
  expect(getDevices({ library: 'soft' })).toContain(one.context);
  expect(await send(one, other, 'shared')).toBe('shared');
  one.close();
  expect(made?.pd.closed).toBe(false);
  made?.pd.close();
});

it('prepare and createQp post receive requests before the peer sends', async () => {
  const listening = server();
  const pd = getDevices({ library: 'soft' })[0]?.allocPd();
  if (pd === undefined) throw new Error('no device');
  keep(pd);
  const [a, b] = [pd.allocMr(64, 1), pd.allocMr(64, 1)];
  const got: Promise<unknown>[] = [];
  const accepted = listening.request().then((request) => {
    got.push(request.createQp({ pd }).recv({ sgList: [{ mr: a }] }));
    return request.accept();
  });
  const one = keep(
    await connect({
      port: portOf(listening),
      qp: { pd },
      prepare: (qp) => {
        got.push(qp.recv({ sgList: [{ mr: b }] }));
      },
    }),
  );
  const other = keep(await accepted);
  b.bytes.fill(7);
  await Promise.all([
    one.qp.send({ opcode: 2, sgList: [{ mr: b, length: 3 }] }),
    other.qp.send({ opcode: 2, sgList: [{ mr: a, length: 1 }] }),
    ...got,
  ]);
  expect([...a.bytes.slice(0, 3)]).toEqual([7, 7, 7]);
});

it('a queue pair that prepare or the accepting program closed is named', async () => {
  const listening = server();
  const refused = listening.request().then((request) => {
    request.createQp().close();
    return expect(request.accept()).rejects.toThrow(/the QueuePair of createQp\(\) is closed.*rdma_accept/);
  });
  await expect(connect({ port: portOf(listening), library: 'soft' })).rejects.toMatchObject({ code: 'REJECTED' });
  await refused;
  const prepare = (qp: { close(): void }) => {
    qp.close();
  };
  const closed = connect({ port: portOf(listening), library: 'soft', prepare });
  await expect(closed).rejects.toThrow(/the QueuePair that options\.prepare was given is closed.*rdma_connect/);
});

it('an accepted request is answered once, and its end leaves the connection alone', async () => {
  const listening = server();
  const accepting = listening.request().then(async (request) => {
    const first = request.accept();
    await expect(request.accept()).rejects.toThrow(/EINVAL.*it was accepted before/);
    const connection = keep(await first);
    await expect(request.accept()).rejects.toThrow(/EINVAL.*it was accepted before/);
    request.close();
    return connection;
  });
  const one = keep(await connect({ port: portOf(listening), library: 'soft' }));
  expect(await send(one, await accepting, 'still there')).toBe('still there');
});

it('a request whose accept failed is closed; one that has a connection makes no more queue pairs', async () => {
  const listening = server();
  const failing = listening.request().then(async (request) => {
    await expect(request.accept({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
    await expect(request.accept()).rejects.toThrow(/the ConnectionRequest is closed/);
    expect(() => request.createQp()).toThrow(/the ConnectionRequest is closed/);
  });
  await expect(connect({ port: portOf(listening), library: 'soft' })).rejects.toMatchObject({ code: 'REJECTED' });
  await failing;
  const accepting = listening.request().then(async (request) => {
    keep(await request.accept());
    expect(() => request.createQp()).toThrow(/EINVAL.*rdma_create_qp.*it was accepted before/);
  });
  keep(await connect({ port: portOf(listening), library: 'soft' }));
  await accepting;
});

it('closes what was made for a queue pair of createQp() that another one has followed', async () => {
  const listening = server();
  const accepting = listening.request().then(async (request) => {
    const first = request.createQp();
    const { pd, sendCq } = first;
    first.close();
    request.createQp();
    const connection = await request.accept();
    expect([pd?.closed, connection.pd === pd]).toEqual([false, false]);
    connection.close();
    return [pd?.closed, sendCq?.closed, connection.pd.closed];
  });
  keep(await connect({ port: portOf(listening), library: 'soft' }));
  expect(await accepting).toEqual([true, true, true]);
});

it('a peer that has given up takes no place among the requests that wait', async () => {
  // Without peers: what tells of one that gives up may be lost on its way.
  const events = keep(createEventChannel({ library: 'soft' }));
  const listening = new Server(events.createId(), 2, (inbox, event) => new ConnectionRequest(inbox, event));
  const peers = Array.from({ length: 4 }, () => events.createId());
  for (const [i, peer] of peers.entries()) {
    listening.id[kWatcher]?.onEvent({ name: 'CONNECT_REQUEST', id: peer } as CmEvent);
    if (i === 0) peer[kWatcher]?.onEvent({ name: 'REJECTED', id: peer } as CmEvent);
  }
  expect(peers.map(({ closed }) => closed)).toEqual([true, false, false, true]);
  expect([(await listening.request()).id, (await listening.request()).id]).toEqual([peers[1], peers[2]]);
});

it('has a hundred connections over one listener', async () => {
  const listening = server({ backlog: 200 });
  const shared = (context: Context) => ({
    pd: pds.get(context) ?? newPd(context),
    cap: { maxSendWr: 2, maxRecvWr: 2 },
  });
  const pds = new Map<Context, ReturnType<Context['allocPd']>>();
  const newPd = (context: Context) => {
    const pd = keep(context.allocPd());
    pds.set(context, pd);
    return pd;
  };
  const accepted = (async () => {
    const ends = [];
    for await (const request of listening) if (ends.push(await request.accept({ qp: shared })) === 100) break;
    return ends;
  })();
  const options = { port: portOf(listening), qp: shared };
  const ones = await Promise.all(Array.from({ length: 100 }, () => connect(options)));
  const others = await accepted;
  for (const each of [...ones, ...others]) keep(each);
  const byPort = new Map(others.map((other) => [other.remoteAddress?.port, other]));
  for (const [i, one] of ones.entries()) {
    const other = byPort.get(one.localAddress?.port ?? 0);
    if (other === undefined) throw new Error('no peer');
    expect(await send(one, other, `number ${i}`)).toBe(`number ${i}`);
  }
  await Promise.all(ones.map((one) => one.disconnect()));
  expect(others.every(({ connected }) => !connected)).toBe(true);
});

it('has the calls of the C library on the identifier', async () => {
  const [one] = await pair();
  const { id } = one;
  expect(id.ps).toBe(PortSpace.TCP);
  expect(id.qp).toBe(one.qp);
  expect(id.verbs).toBe(one.context);
  expect(id.portNum).toBe(1);
  expect(id.route.dgid).toBe(`::ffff:${one.remoteAddress?.address}`);
  expect(id.route.paths.length).toBeGreaterThan(0);
});
