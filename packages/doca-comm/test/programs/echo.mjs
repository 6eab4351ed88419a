// A service that sends back what comes until it is killed: echo.mjs NAME
import { Endpoint, openDevice, openRepresentor } from '../../dist/index.js';

const device = openDevice('doca_dpu0');
const endpoint = new Endpoint({ device, deviceRep: openRepresentor(device, '5f5f:3b:00.0') });
endpoint.listen(process.argv[2]);
process.stdout.write('listening\n');
for await (const { peer, data } of endpoint) {
  // Who is gone is told of by the iteration.
  endpoint.send(data, peer).catch(() => undefined);
}
