// What a sequence begins with: devices, and the good objects of some use of the library, made in the good order.
import { freshBuffers } from '../../../../core/test/programs/hostile/world.mjs';

const REPRESENTOR = '5f5f:3b:00.0';

export const sides = (api, over) => {
  const dpu = api.openDevice('doca_dpu0', { api: over });
  return { dpu, rep: api.openRepresentor(dpu, REPRESENTOR), host: api.openDevice('doca_host0', { api: over }) };
};

/** One of everything, and what closes it. */
export async function connectedPair(api) {
  const { dpu: device, rep: deviceRep, host } = sides(api, 'comch');
  const server = new api.Server({ device, deviceRep, name: 'hostile pair' });
  const client = new api.Client({ device: host, name: 'hostile pair' });
  const [accepted, connected] = await Promise.all([server.accept(), client.connect()]);
  const mmap = api.allocMmap(device, 4096);
  const consumer = await accepted.createConsumer({ mmap });
  const producer = await connected.createProducer();
  const close = async () => {
    await Promise.all([client.closeAsync(), server.closeAsync()]);
    for (const each of [mmap, deviceRep, device, host]) each.close();
  };
  return { objects: { Connection: connected, Consumer: consumer, Producer: producer, Mmap: mmap }, close };
}

async function connection(w, { dpu: device, rep: deviceRep, host }) {
  const name = w.newService();
  const server = w.take(new w.api.Server({ device, deviceRep, name }));
  const pairs = [];
  // One after the other: the server accepts whoever comes first.
  for (let clients = w.random.pick([1, 1, 2, 3]); clients > 0; clients--) {
    const client = w.take(new w.api.Client({ device: host, name }));
    pairs.push(await Promise.all([server.accept(), client.connect()]));
  }
  for (const each of pairs.flat()) w.take(each);
  return pairs[0];
}

async function transfers(w, { dpu, host }, [accepted, connected]) {
  const { api } = w;
  const [receives, sends] = w.random.oneIn(2) ? [accepted, connected] : [connected, accepted];
  const mmap = w.take(api.allocMmap(receives === accepted ? dpu : host, 8192));
  const memory = w.take(api.allocMmap(receives === accepted ? host : dpu, 8192));
  const consumer = w.take(await receives.createConsumer({ mmap, tasks: 4 }));
  const producer = w.take(await sends.createProducer({ tasks: 4 }));
  const id = await sends.nextConsumer();
  consumer.post(new Uint8Array(mmap.buffer, 0, 4096));
  if (w.random.oneIn(2)) {
    const view = new Uint8Array(memory.buffer, 0, 100);
    // A side makes progress while it waits.
    await Promise.all([consumer.receive(), producer.send(view, id, Buffer.from('tag'))]);
  }
  // What is under way when the hostile calls begin.
  for (let left = w.random.below(6); left > 0; left--) producer.trySend(new Uint8Array(memory.buffer, 0, 4096), id);
}

/** Neither listens nor connects yet. */
function idleEndpoints(w, { dpu: device, rep: deviceRep, host }) {
  w.take(new w.api.Endpoint({ device, deviceRep }));
  w.take(new w.api.Endpoint({ device: host }));
}

async function endpoints(w, its) {
  const { dpu: device, rep: deviceRep, host } = its;
  if (w.random.oneIn(2)) idleEndpoints(w, its);
  const name = w.newService();
  const service = w.take(new w.api.Endpoint({ device, deviceRep }));
  service.listen(name);
  const client = w.take(new w.api.Endpoint({ device: host }));
  const peer = w.take(await client.connectAsync(name));
  // The Comm Channel accepts as it receives.
  const first = service.receive();
  await peer.established();
  await client.send(Buffer.from('hello'), peer);
  w.take((await first).peer);
  return [service, client];
}

const uses = {
  bare: async () => Promise.resolve(),
  idle: async (w, s) => {
    idleEndpoints(w, s);
    await Promise.resolve();
  },
  pending: async (w, { dpu: device, rep: deviceRep, host }) => {
    const name = w.newService();
    if (w.random.oneIn(2)) w.take(new w.api.Server({ device, deviceRep, name }));
    w.take(new w.api.Client({ device: host, name }));
    await Promise.resolve();
  },
  messages: async (w, s) => {
    const [accepted, connected] = await connection(w, s);
    for (let left = w.random.below(20); left > 0; left--) {
      w.random.pick([accepted, connected]).trySend(new Uint8Array(w.random.pick([0, 1, 4080])));
    }
  },
  transfers: async (w, s) => {
    await transfers(w, s, await connection(w, s));
  },
  both: async (w, s) => {
    const pair = await connection(w, s);
    await transfers(w, s, pair);
    await transfers(w, s, pair);
  },
};

/** Throws if the good calls do not work: then nothing that follows means anything. `say` is told what is made. */
export async function prepare(w, say, listen) {
  w.buffers = freshBuffers();
  const over = w.random.pick(['comch', 'comch', 'comch', 'comm-channel']);
  const its = sides(w.api, over);
  for (const each of Object.values(its)) w.take(each);
  const use = async () => {
    const chosen = over === 'comch' && !w.random.oneIn(6) ? w.random.pick(Object.keys(uses)) : 'endpoints';
    say(`good objects over ${over}: ${chosen}`);
    if (chosen === 'endpoints') for (const each of await endpoints(w, its)) listen(each);
    else await uses[chosen](w, its);
  };
  await use();
  if (w.random.oneIn(3)) await use();
  // Devices of the other API, and the same ones again, whose objects must never meet.
  if (w.random.oneIn(3)) {
    for (const each of Object.values(sides(w.api, w.random.pick(['comch', 'comm-channel'])))) w.take(each);
  }
}
