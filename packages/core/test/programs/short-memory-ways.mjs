// Objects that need much memory, for short-memory.mjs.
import { AccessFlags, openDevice, QpType } from '../../dist/index.js';

export default function waysToMake() {
  const ctx = openDevice('soft0');
  const pd = ctx.allocPd();
  const cq = ctx.createCq(16);
  const cap = { maxSendWr: 8192, maxRecvWr: 8192, maxSendSge: 8, maxRecvSge: 8 };
  return {
    cq: () => ctx.createCq(60_000),
    qp: () => pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap }),
    srq: () => pd.createSrq({ maxWr: 8192, maxSge: 8 }),
    mr: () => pd.allocMr(16 * 2 ** 20, AccessFlags.LOCAL_WRITE),
    resized: () => {
      const queue = ctx.createCq(16);
      try {
        queue.resize(60_000);
      } catch (error) {
        queue.close();
        throw error;
      }
      return queue;
    },
  };
}
