// A listener of 'data' that throws: the exception is uncaught, and the socket goes on.
import { once } from 'node:events';
import { connect, createServer } from '@verbs/core/stream';

process.on('uncaughtException', (error) => {
  console.log(`caught ${error.message}`);
  client.end('second');
});
const server = createServer((socket) => {
  socket.once('data', (text) => {
    socket.on('data', (more) => console.log(String(more)));
    throw new Error(String(text));
  });
  socket.once('close', () => server.close());
}).listen();
await once(server, 'listening');
const client = connect({ port: server.port });
client.write('first');
client.resume();
