// Objects that need much memory, for packages/core/test/programs/short-memory.mjs.
import { QpType } from '@verbs/core';
import { createCq, openDevice } from '../../dist/index.js';

export default function waysToMake() {
  const ctx = openDevice('hbl_0');
  const [cq, pd] = [createCq(ctx, 16, { portNum: 1 }), ctx.allocPd()];
  const cap = { maxSendWr: 8192, maxRecvWr: 8192, maxSendSge: 8, maxRecvSge: 8 };
  return {
    qp: () => pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap }),
  };
}
