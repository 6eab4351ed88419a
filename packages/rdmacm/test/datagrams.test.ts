import { AccessFlags, type MemoryRegion, type ProtectionDomain, QpType, WrOpcode } from '@verbs/core';
import { expect, it } from 'vitest';
import {
  type CmEvent,
  type CmId,
  type ConnectionError,
  createEventChannel,
  type DatagramService,
  type EventChannel,
  listenDatagrams,
  lookup,
  PortSpace,
} from '../src/index.js';
import { keep, portOf, text } from './helpers/connections.js';

const library = 'soft';
/** In front of each received datagram. */
const GRH = 40;

const bytes = (content: string) => new TextEncoder().encode(content);

function region(pd: ProtectionDomain, content = ''): MemoryRegion {
  const mr = pd.allocMr(256, AccessFlags.LOCAL_WRITE);
  mr.bytes.set(bytes(content));
  return mr;
}

/** A UD queue pair of an identifier, with what it needs. */
function endOf(id: CmId) {
  const context = id.verbs;
  if (context === undefined) throw new Error('the identifier has no device');
  const pd = keep(context.allocPd());
  const cq = keep(context.createCq(8, { channel: keep(context.createCompChannel()) }));
  const qp = id.createQp(pd, { qpType: QpType.UD, sendCq: cq, recvCq: cq, cap: { maxSendWr: 4, maxRecvWr: 4 } });
  return { id, pd, qp };
}

/** The event of that name. */
async function next(channel: EventChannel, name: CmEvent['name']): Promise<CmEvent> {
  for (;;) {
    const event = await channel.next();
    if (event.name === name) return event;
    if (event.status !== 0) throw new Error(`${event.name}: ${event.status}`);
  }
}

/** An identifier for datagrams that is bound to the device of an address. */
function boundTo(address: string) {
  const channel = keep(createEventChannel({ library }));
  const id = keep(channel.createId(PortSpace.UDP));
  id.bindAddr({ address, port: 0 });
  return { channel, ...endOf(id) };
}

/** The address of this process's device. */
function ownAddress(): string {
  const server = keep(listenDatagrams({ library }));
  const [address = ''] = server.addresses();
  return address;
}

it('a datagram service is found by its port, and gets what is sent to it', async () => {
  const server = keep(listenDatagrams({ library }));
  const found = lookup({ port: portOf(server), library, privateData: 'who are you?' });
  const request = await server.request();
  expect(text(request.privateData)).toBe('who are you?');
  const service = endOf(request.id);
  const into = region(service.pd);
  const received = service.qp.recv({ sgList: [{ mr: into }] });
  request.accept({ qp: service.qp, privateData: 'the echo' });
  const peer: DatagramService = keep(await found);
  expect(text(peer.privateData)).toBe('the echo');
  expect([peer.qpNum, peer.qkey]).toEqual([service.qp.qpNum, 0x01234567]);

  const client = boundTo(ownAddress());
  const ah = client.pd.createAh(peer.ahAttr);
  const mr = region(client.pd, 'a datagram');
  await client.qp.send({
    opcode: WrOpcode.SEND,
    sgList: [{ mr, length: 10 }],
    ah,
    remoteQpn: peer.qpNum,
    remoteQkey: peer.qkey,
  });
  const { byteLen } = await received;
  expect(text(into.bytes.slice(GRH, byteLen))).toBe('a datagram');
});

it('a datagram service rejects a lookup with its private data; nobody answers at another port', async () => {
  const server = keep(listenDatagrams({ library }));
  const rejected = lookup({ port: portOf(server), library });
  (await server.request()).reject({ privateData: 'not today' });
  const error = await rejected.catch((caught: unknown) => caught as ConnectionError);
  expect(error).toMatchObject({ code: 'REJECTED', reason: 'CONSUMER_DEFINED', status: 2, syscall: 'rdma_connect' });
  expect(text((error as ConnectionError).privateData ?? bytes(''))).toBe('not today');
  const { port } = server.address();
  server.close();
  await expect(lookup({ port, library, timeout: 10_000 })).rejects.toMatchObject({
    ...{ code: 'REJECTED', reason: 'INVALID_SERVICE_ID', syscall: 'rdma_connect' },
    message: expect.stringMatching(/nobody listens at that address and port/) as string,
  });
});

it('members of a multicast group get what is sent to it, until they leave', async () => {
  const address = ownAddress();
  const group = { address: '239.7.7.9' };
  const [one, two] = [boundTo(address), boundTo(address)];
  const [joined] = await Promise.all(
    [one, two].map(async ({ channel, id }) => {
      id.joinMulticast(group);
      return next(channel, 'MULTICAST_JOIN');
    }),
  );
  // A second time, as the kernel takes it: it stays a member until it has left as often.
  one.id.joinMulticast(group);
  await next(one.channel, 'MULTICAST_JOIN');
  one.id.leaveMulticast(group);
  const { ud } = joined ?? {};
  if (ud === undefined) throw new Error('the event has no address');
  expect(ud.qpNum).toBe(0xffffff);
  const received = [one, two].map(async ({ pd, qp }) => {
    const into = region(pd);
    const { byteLen } = await qp.recv({ sgList: [{ mr: into }] });
    return text(into.bytes.slice(GRH, byteLen));
  });
  const mr = region(one.pd, 'to all');
  const send = { opcode: WrOpcode.SEND, sgList: [{ mr, length: 6 }] };
  const to = { ah: one.pd.createAh(ud.ahAttr), remoteQpn: ud.qpNum, remoteQkey: ud.qkey };
  await one.qp.send({ ...send, ...to });
  // The sender's own NIC gives it to the other members there, and to the sender too.
  expect(await Promise.all(received)).toEqual(['to all', 'to all']);
  two.id.leaveMulticast(group);
  expect(() => {
    two.id.leaveMulticast(group);
  }).toThrow(/EADDRNOTAVAIL/);
});

it('arguments of multicast and of extended capabilities are checked', () => {
  const { id } = boundTo(ownAddress());
  expect(() => {
    id.joinMulticast({ address: 'no address' });
  }).toThrow(/address\.address is no IP address/);
  expect(() => {
    id.joinMulticast({ address: '239.7.7.9' }, 1.5 as never);
  }).toThrow(/joinFlags/);
  const channel = keep(createEventChannel({ library }));
  const other = keep(channel.createId());
  expect(() => {
    other.setLocalEce({ vendorId: 0, options: 1 });
  }).toThrow(/EINVAL/);
  other.setLocalEce({ vendorId: 0x2c9, options: 1 });
  expect(other.getRemoteEce()).toEqual({ vendorId: 0, options: 0 });
  expect(() => {
    other.setLocalEce({ vendorId: 2 ** 32, options: 1 });
  }).toThrow(/vendorId/);
});
