// An echo over a reliable connection: the server sends every message back to the client that it came from.
//   node rc-echo.ts [--port N]             # in one shell
//   node rc-echo.ts [--port N] 127.0.0.1   # in another one
import { parseArgs } from 'node:util';
import { dial, listen, type Request } from '@verbs/core/rendezvous';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { port: { type: 'string' } } });
const port = Number(values.port ?? 18515);
const echo = async (request: Request): Promise<void> => {
  const connection = await request.accept();
  for await (const message of connection.messages) await message.reply(message.data).catch(console.error);
  connection.close(); // the peer has gone
};
const [host] = positionals;
if (host === undefined) {
  const server = await listen({ port, receive: { slots: 64, size: 1024 } });
  console.log(`waiting on 127.0.0.1 port ${server.port}`);
  for await (const request of server) void echo(request).catch(console.error); // a peer may give up
} else {
  const connection = await dial({ host, port, receive: {} });
  await connection.send('hello over verbs');
  console.log((await connection.messages.next())?.text());
  connection.close();
}
