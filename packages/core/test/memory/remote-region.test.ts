import { expect, it } from 'vitest';
import { type RemoteRegion, SendBatch, WrOpcode } from '../../src/index.js';
import { ALL_ACCESS, bench, pair } from '../helpers/devices.js';

const { RDMA_READ, RDMA_WRITE, ATOMIC_FETCH_AND_ADD } = WrOpcode;

it('a region goes to the peer as JSON, and requests take it', async () => {
  const b = bench();
  const [one] = pair(b);
  const far = b.pd.allocMr(4096, ALL_ACCESS);
  const text = JSON.stringify(far.remote());
  expect(text).toBe(`{"addr":"0x${far.addr.toString(16)}","rkey":${far.rkey},"length":4096}`);
  const remote = JSON.parse(text) as RemoteRegion;
  b.mr.bytes.set([1, 2, 3, 4]);
  await one.send({ opcode: RDMA_WRITE, sgList: [{ mr: b.mr, length: 4 }], remote });
  await one.send({ opcode: RDMA_WRITE, sgList: [{ mr: b.mr, length: 4 }], remote, remoteOffset: 100 });
  expect([...far.bytes.subarray(0, 4), ...far.bytes.subarray(99, 105)]).toEqual([1, 2, 3, 4, 0, 1, 2, 3, 4, 0]);
  // The region itself will do in one process.
  await one.send({ opcode: RDMA_READ, sgList: [{ mr: b.mr, offset: 64, length: 4 }], remote: far, remoteOffset: 100 });
  expect([...b.mr.bytes.subarray(64, 68)]).toEqual([1, 2, 3, 4]);
  await one.send({ opcode: ATOMIC_FETCH_AND_ADD, add: 1, sgList: [{ mr: b.mr, length: 8 }], remote, remoteOffset: 8 });
  expect(far.bytes[8]).toBe(1);

  b.mr.bytes[0] = 1;
  const batch = new SendBatch(1);
  batch.set(0, { opcode: RDMA_WRITE, sgList: [{ mr: b.mr, length: 1 }], remote, remoteOffset: 4095, sendFlags: 2 });
  one.postSendBatch(batch);
  await b.cq.wait();
  expect(b.cq.poll()).toMatchObject([{ ok: true }]);
  expect(far.bytes[4095]).toBe(1);
});

it('an address beyond 2^53 stays what it is', async () => {
  const b = bench();
  const [one] = pair(b);
  const far = b.pd.allocMr(64, ALL_ACCESS, { iova: 0xffff_ffff_ffff_f000n });
  expect(far.remote().addr).toBe('0xfffffffffffff000');
  b.mr.bytes[0] = 7;
  await one.send({ opcode: RDMA_WRITE, sgList: [{ mr: b.mr, length: 1 }], remote: far.remote(), remoteOffset: 3 });
  expect(far.bytes[3]).toBe(7);
});

it('what is no region is rejected by name', () => {
  const b = bench();
  const [one] = pair(b);
  const post = (fields: object) => () => {
    one.postSend({ opcode: RDMA_READ, sgList: [{ mr: b.mr }], ...fields } as never);
  };
  const remote = b.mr.remote();
  expect(post({ remote: 5 })).toThrow(/^wr\.remote must be an object \{ addr, rkey, length \}, as mr\.remote\(\)/);
  expect(post({ remote: { ...remote, addr: 'here' } })).toThrow(/^wr\.remote\.addr is no address/);
  expect(post({ remote: { ...remote, addr: '0x11112222333344445' } })).toThrow(/^wr\.remote\.addr is no address/);
  expect(post({ remote: { ...remote, addr: -1n } })).toThrow(/^wr\.remote\.addr/);
  expect(post({ remote: { ...remote, rkey: -1 } })).toThrow(/^wr\.remote\.rkey/);
  const { addr, rkey } = remote;
  expect(post({ remote: { addr, rkey } })).toThrow(
    /^wr\.remote\.length must be there: remote is the object .* mr\.remote\(\) of the peer gives \(.* remoteAddr and rkey/,
  );
  expect(post({ remote: { remoteAddr: addr, rkey, length: 8 } })).toThrow(/^wr\.remote\.addr must be there/);
  expect(post({ remote, remoteOffset: 70000 })).toThrow(/^wr\.remoteOffset must be at most remote\.length, 65536/);
  expect(post({ remote, rkey: 1 })).toThrow(/^wr\.rkey stands beside remote/);
  // The text of an address is no address: with an offset added it would be another one in silence.
  expect(post({ remoteAddr: remote.addr, rkey: 1 })).toThrow(/^wr\.remoteAddr must be a bigint or a number/);
});
