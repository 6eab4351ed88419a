// Listeners and callbacks that throw: the exceptions are uncaught, as anywhere, and sockets and ports go on.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, createServer, messagePort } from '@verbs/core/stream';

const errors = new Set();
process.on('uncaughtException', ({ message }) => errors.add(message));
const failing = (what) => () => {
  throw new Error(what);
};
const caught = async (what) => {
  while (!errors.has(what)) await sleep(1);
};

const server = createServer({ slots: 8, size: 4096 });
const [listening, accepted] = [once(server, 'listening'), once(server, 'connection')];
server.once('listening', failing('listening')).once('connection', failing('connection')).listen();
await listening;
const client = connect({ port: server.port });
const connected = once(client, 'connect');
client.once('connect', failing('connect'));
await connected;
const [socket] = await accepted;

// More than the peer has room for: what follows happens as its credits come back.
let bytes = 0;
socket.on('data', (part) => (bytes += part.length));
client.write(Buffer.alloc(200_000), failing('write callback'));
await caught('write callback');
client.once('drain', failing('drain'));
client.write(Buffer.alloc(200_000));
await caught('drain');
client.end('last');
await once(socket, 'end');
console.log(bytes, client.errored, socket.errored);

const again = once(server, 'connection');
const port = messagePort(connect({ port: server.port }));
port.on('drain', failing('drain of the port'));
port.postMessage('early');
const peer = messagePort((await again)[0]);
console.log(await once(peer, 'message'));
await caught('drain of the port');
port.postMessage('late');
console.log(await once(peer, 'message'));

for (const each of [client, socket, port.socket, peer.socket]) each.destroy();
server.close();
console.log([...errors].sort().join());
