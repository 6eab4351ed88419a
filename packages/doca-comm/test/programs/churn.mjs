// Devices that are opened, used and closed, for packages/core/test/programs/spawn-under-load.mjs.
import { threadId } from 'node:worker_threads';
import { Endpoint, openDevice, openRepresentor } from '../../dist/index.js';

export default function churn() {
  const device = openDevice('doca_dpu0');
  const deviceRep = openRepresentor(device, '5f5f:3b:00.0');
  const endpoint = new Endpoint({ device, deviceRep });
  endpoint.listen(`churn ${threadId}`);
  for (const each of [endpoint, deviceRep, device]) each.close();
}
