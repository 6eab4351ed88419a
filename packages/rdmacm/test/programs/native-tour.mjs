// What programs do with the objects of the package, for packages/core/test/programs/native-calls.mjs.
import { connect, createEventChannel, eventStr, getaddrinfo, getDevices, listen } from '../../dist/index.js';

const library = 'soft';

export default async function tour() {
  getDevices({ library });
  await getaddrinfo('127.0.0.1', '7471', { library });
  eventStr(0, { library });
  const channel = createEventChannel({ library });
  const id = channel.createId();
  id.bindAddr({ address: '127.0.0.1', port: 0 });
  const server = listen({ library });
  const accepted = server.request().then((request) => request.accept({ privateData: new Uint8Array(4) }));
  const { port } = server.address();
  const [one, other] = await Promise.all([connect({ port, library, privateData: new Uint8Array(8) }), accepted]);
  // The next tour gets a new one: a hostile call may have paused the watcher of this one, beneath the package.
  const shared = server.id.channel;
  return () => {
    for (const each of [one, other, server, channel, shared]) each.close();
  };
}
