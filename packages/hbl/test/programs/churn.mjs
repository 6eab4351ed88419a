// A device that is opened, used and closed, for packages/core/test/programs/spawn-under-load.mjs.
import { threadId } from 'node:worker_threads';
import { createCq, createUsrFifo, openDevice } from '../../dist/index.js';

export default function churn() {
  const ctx = openDevice(`hbl_${threadId % 2}`);
  createCq(ctx, 16, { portNum: 1 });
  createUsrFifo(ctx, { portNum: 1 });
  ctx.close();
}
