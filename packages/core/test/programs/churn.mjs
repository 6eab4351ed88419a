// A device that is opened, used and closed, for spawn-under-load.mjs.
import { AccessFlags, openDevice } from '../../dist/index.js';

export default function churn() {
  const ctx = openDevice('soft0');
  const pd = ctx.allocPd();
  pd.allocMr(8192, AccessFlags.LOCAL_WRITE);
  ctx.createCq(16, { channel: ctx.createCompChannel() });
  ctx.close();
}
