// A process with a socket, to be killed. `server`: prints its port, and echoes. `client PORT`: connects, and writes for ever.
import { once } from 'node:events';
import { connect, createServer } from '@verbs/core/stream';

const [role, port] = process.argv.slice(2);
if (role === 'server') {
  const server = createServer((socket) => socket.pipe(socket)).listen();
  await once(server, 'listening');
  console.log(server.address().port);
} else {
  const socket = connect({ port: Number(port) });
  await once(socket, 'connect');
  console.log('connected');
  const more = () => {
    while (socket.write(Buffer.alloc(10_000)));
    socket.once('drain', more);
  };
  more();
}
