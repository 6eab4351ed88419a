import { closeSync } from 'node:fs';
import { AccessFlags, importDevice, SendFlags, WrOpcode } from '@verbs/core';
import { describe, expect, it } from 'vitest';
import {
  createFlow,
  createFlowMatcher,
  devx,
  DmabufAccess,
  FlowActionType,
  FlowTableType,
  getDataDirectSysfsPath,
  openDevice,
  regDmabufMr,
} from '../src/index.js';
import { code, open } from './helpers/devices.js';
import { INNER, Port } from './helpers/frames.js';

describe('an exported object', () => {
  it('is imported by another context of the same file, and counts for both', async () => {
    const port = new Port(open());
    using other = importDevice(port.ctx.cmdFd, port.ctx.device);
    const counter = devx.allocFlowCounter(port.ctx);
    const data = counter.export();
    expect(data.byteLength).toBe(devx.getExportSizes(port.ctx).devxObjAttrsSize);
    const imported = devx.importObj(other, data);
    const matcher = createFlowMatcher(port.ctx, { ftType: FlowTableType.NIC_RX });
    createFlow(matcher, {}, [{ type: FlowActionType.COUNTERS_DEVX, obj: counter }, port.qp]);
    await port.send(INNER);
    await port.receiveOne();
    const query = new Uint8Array(32);
    new DataView(query.buffer).setUint16(0, 0x93b);
    new DataView(query.buffer).setUint32(28, counter.id);
    expect(new DataView(imported.query(query, 32).buffer).getBigUint64(16)).toBe(1n);
    imported.close();
    expect(counter.read().packets).toBe(1n);
  });

  it('is gone for the others when one destroys it', () => {
    const ctx = open();
    using other = importDevice(ctx.cmdFd, ctx.device);
    const counter = devx.allocFlowCounter(ctx);
    const imported = devx.importObj(other, counter.export());
    counter.close();
    expect(code(() => imported.export())).toBe('EINVAL');
    imported.close();
  });

  it('is none of another file, and data of another size is named', () => {
    const ctx = open();
    using other = openDevice(ctx.device);
    const data = devx.allocFlowCounter(ctx).export();
    expect(code(() => devx.importObj(other, data))).toBe('EINVAL');
    expect(() => devx.importObj(ctx, new Uint8Array(3))).toThrow(/^data\.byteLength must be/);
    expect(() => devx.importObj(ctx, 'data' as never)).toThrow(/^data must be the result of export\(\)/);
    const { devxUmemAttrsSize, varAttrsSize } = devx.getExportSizes(ctx);
    expect(code(() => devx.importUmem(ctx, new Uint8Array(devxUmemAttrsSize)))).toBe('EOPNOTSUPP');
    expect(code(() => devx.importVar(ctx, new Uint8Array(varAttrsSize)))).toBe('EOPNOTSUPP');
  });
});

describe('a dma-buf', () => {
  it('is registered as by core, and reached by a peer; there is no data direct', async () => {
    const ctx = open();
    const pd = ctx.allocPd();
    const dm = ctx.allocDm(8192);
    dm.copyTo(0, Buffer.from('by a dma-buf ...'));
    const fd = dm.exportDmabufFd();
    const mr = regDmabufMr(pd, fd, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ, { length: 4096, iova: 0x1000n });
    expect([mr.addr, mr.length, mr.pd]).toEqual([0x1000n, 4096, pd]);
    const attr = { length: 4096, mlx5Access: DmabufAccess.DATA_DIRECT };
    expect(code(() => regDmabufMr(pd, fd, AccessFlags.LOCAL_WRITE, attr))).toBe('EOPNOTSUPP');
    expect(code(() => regDmabufMr(pd, fd, AccessFlags.LOCAL_WRITE, { length: 4096, mlx5Access: 2 as number }))).toBe(
      'EINVAL',
    );
    expect(code(() => getDataDirectSysfsPath(ctx))).toBe('EOPNOTSUPP');
    // What ibv_mr has for its address is the offset in the dma-buf, and no memory of this process.
    const inside = regDmabufMr(pd, fd, AccessFlags.LOCAL_WRITE, { offset: 4096, length: 4096 });
    for (const each of [mr, inside, pd.allocNullMr()]) {
      expect(code(() => devx.regUmem(ctx, each, { size: 64 }))).toBe('EINVAL');
    }
    closeSync(fd);
    const cq = ctx.createCq(8, { channel: ctx.createCompChannel() });
    const cap = { maxSendWr: 4, maxRecvWr: 4 };
    const [one, two] = [0, 1].map(() => pd.createQp({ qpType: 2, sendCq: cq, recvCq: cq, cap }));
    if (one === undefined || two === undefined) throw new Error('no queue pairs');
    one.connect(two.endpoint());
    two.connect(one.endpoint(), { access: AccessFlags.REMOTE_READ });
    const target = pd.allocMr(64, AccessFlags.LOCAL_WRITE);
    await one.send({
      opcode: WrOpcode.RDMA_READ,
      sendFlags: SendFlags.SIGNALED,
      sgList: [{ mr: target, length: 12 }],
      remote: mr.remote(),
    });
    expect(Buffer.from(target.bytes.subarray(0, 12)).toString()).toBe('by a dma-buf');
  });
});
