// One of two hosts, with nothing configured. `server`: prints its port, answers a connection and a socket, and ends.
// `client HOST PORT PORT`: talks to both, and prints the address of its end.
import { once } from 'node:events';
import { dial, listen } from '@verbs/core/rendezvous';
import { connect, createServer } from '@verbs/core/stream';

const SIZE = 100_000;
const [role, host, ...ports] = process.argv.slice(2);
if (role === 'server') {
  const messages = await listen({ host: '::', receive: {} });
  const sockets = createServer({}, (socket) => socket.pipe(socket)).listen({ host: '::' });
  await once(sockets, 'listening');
  console.log(messages.port, sockets.address().port);
  const over = once(sockets, 'connection');
  for await (const request of messages) {
    const connection = await request.accept();
    const message = await connection.messages.next();
    await connection.send(`${message.text()} and back`);
    await connection.disconnected;
    connection.close();
    break;
  }
  messages.close();
  const [socket] = await over;
  await once(socket, 'close');
  sockets.close();
} else {
  const connection = await dial({ host, port: Number(ports[0]), receive: {} });
  await connection.send('there');
  const message = await connection.messages.next();
  console.log(message.text(), connection.qp.query().attr.ahAttr.grh.dgid);
  connection.close();
  const socket = connect({ host, port: Number(ports[1]) });
  socket.end(Buffer.alloc(SIZE, 7));
  let size = 0;
  for await (const data of socket) size += data.length;
  console.log(size === SIZE ? 'all came back' : size);
}
