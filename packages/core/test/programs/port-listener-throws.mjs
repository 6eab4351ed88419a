// A listener of a message port throws: the process hears of it, and the next message comes.
import { once } from 'node:events';
import { connect, createServer, messagePort } from '@verbs/core/stream';

process.on('uncaughtException', (error) => console.log(`caught ${error.message}`));
const server = createServer((socket) => {
  const port = messagePort(socket);
  port.on('message', (value) => {
    if (value === 'first') throw new Error(value);
    console.log(value);
    port.close();
    server.close();
  });
}).listen();
await once(server, 'listening');
const port = messagePort(connect({ port: server.port }));
port.postMessage('first');
port.postMessage('second');
for await (const value of port) console.log('unexpected', value);
