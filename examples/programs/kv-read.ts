// A key-value store: clients read the values from the server's memory by RDMA, and the server's program sleeps.
//   node kv-read.ts serve 18516 colour=green shape=round   # in one shell
//   node kv-read.ts get 18516 colour                       # in another one
import { createHash } from 'node:crypto';
import { AccessFlags, openDevice, type RemoteRegion, WrOpcode } from '@verbs/core';
import { dial, listen } from '@verbs/core/rendezvous';

const [SLOTS, SLOT] = [1024, 128];
/** Where a key may be: from its hash on, up to the first slot without one. */
const places = (key: string): number[] => {
  const first = createHash('sha256').update(key).digest().readUInt32LE();
  return Array.from({ length: SLOTS }, (_, i) => ((first + i) % SLOTS) * SLOT);
};

const [command, port, ...args] = process.argv.slice(2);
const pd = openDevice().allocPd();
if (command === 'serve') {
  const table = pd.allocMr(SLOTS * SLOT, AccessFlags.REMOTE_READ);
  for (const [key = '', ...value] of args.map((pair) => pair.split('='))) {
    const place = places(key).find((offset) => table.bytes[offset] === 0) ?? 0;
    new TextEncoder().encodeInto(JSON.stringify([key, value.join('=')]), table.bytes.subarray(place, place + SLOT));
  }
  const server = await listen({ port: Number(port), pd, privateData: table.remote() });
  console.log(`serving on port ${server.port}`);
  for await (const request of server) {
    const accepted = request.accept().then((client) => client.disconnected.finally(client.close.bind(client)));
    void accepted.catch(console.error); // a client may give up
  }
} else {
  const connection = await dial({ port: Number(port), pd });
  const remote = connection.privateData as RemoteRegion;
  const slot = pd.allocMr(SLOT, AccessFlags.LOCAL_WRITE);
  for (const remoteOffset of places(args[0] ?? '')) {
    await connection.qp.send({ opcode: WrOpcode.RDMA_READ, remote, remoteOffset, sgList: [{ mr: slot }] });
    if (slot.bytes[0] === 0) break; // the first slot without a key
    const [json = ''] = new TextDecoder().decode(slot.bytes).split('\0');
    const [key, value] = JSON.parse(json) as string[];
    if (key !== args[0]) continue;
    console.log(value);
    break;
  }
  connection.close();
}
