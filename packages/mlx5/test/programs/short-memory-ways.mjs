// Objects that need much memory, for packages/core/test/programs/short-memory.mjs.
import { QpType } from '@verbs/core';
import { openDevice } from '../../dist/index.js';

export default function waysToMake() {
  const ctx = openDevice('mlx5_soft0');
  const pd = ctx.allocPd();
  const cq = ctx.createCq(16);
  const cap = { maxSendWr: 8192, maxRecvWr: 8192, maxSendSge: 8, maxRecvSge: 8 };
  return {
    rawQp: () => pd.createQp({ qpType: QpType.RAW_PACKET, sendCq: cq, recvCq: cq, cap }),
  };
}
