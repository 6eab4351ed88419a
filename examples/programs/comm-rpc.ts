// Calls from a host to its DPU over DOCA Comch or the Comm Channel: JSON in messages, answered in any order.
//   node comm-rpc.ts serve            # on the DPU, or on its model
//   node comm-rpc.ts add 1 2          # on the host
import { Endpoint, listDevices, listRepresentors, openDevice, openRepresentor } from '@verbs/doca-comm';

const methods = new Map<string, (...args: string[]) => unknown>([
  ['add', (...args) => args.reduce((sum, each) => sum + Number(each), 0)],
  ['upper', (text = '') => text.toUpperCase()],
]);
const bytes = (value: object) => Buffer.from(JSON.stringify(value));
const value = (data: Uint8Array): unknown => JSON.parse(Buffer.from(data).toString());

const [method = '', ...args] = process.argv.slice(2);
const info = listDevices().find(({ hasRepresentors }) => hasRepresentors === (method === 'serve'));
if (info === undefined) throw new Error('there is no such device');
const device = openDevice(info);
if (method === 'serve') {
  const [function0] = listRepresentors(device);
  if (function0 === undefined) throw new Error('the DPU has no function of a host');
  const service = new Endpoint({ device, deviceRep: openRepresentor(device, function0) });
  service.listen('rpc');
  console.log('serving');
  for await (const { peer, data } of service) {
    try {
      const { id, method: name, args: given } = value(data) as { id: number; method: string; args: string[] };
      const result = methods.get(name)?.(...given);
      await service.send(bytes(result === undefined ? { id, error: `no method ${name}` } : { id, result }), peer);
    } catch (error) {
      console.error(error); // it was no call, or the host did not wait for the answer
    }
  }
} else {
  const client = new Endpoint({ device });
  await client.connectAsync('rpc');
  await client.send(bytes({ id: 1, method, args }));
  console.log(value((await client.receive()).data));
  await client.closeAsync();
}
