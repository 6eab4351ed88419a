// One end of a connection between processes: far-end.mjs listen, which says its port, or far-end.mjs connect HOST PORT,
// which says the addresses of the connection, or the error.
import { AccessFlags, WrOpcode } from '@verbs/core';
import { connect, listen } from '../../dist/index.js';

const [role, host, port] = process.argv.slice(2);
const library = 'soft';

/** What comes is sent back. */
async function serve() {
  const server = listen({ library });
  console.log(server.address().port);
  for await (const request of server) {
    const connection = await request.accept();
    const mr = connection.pd.allocMr(64, AccessFlags.LOCAL_WRITE);
    const { byteLen } = await connection.qp.recv({ sgList: [{ mr }] });
    await connection.qp.send({ opcode: WrOpcode.SEND, sgList: [{ mr, length: byteLen }] });
    await connection.whenDisconnected();
    connection.close();
  }
}

async function ask() {
  const connection = await connect({ host, port: Number(port), library, timeout: 20_000 });
  const [mr, echo] = [1, 2].map(() => connection.pd.allocMr(64, AccessFlags.LOCAL_WRITE));
  const { written: length } = new TextEncoder().encodeInto('far away', mr.bytes);
  const received = connection.qp.recv({ sgList: [{ mr: echo }] });
  await connection.qp.send({ opcode: WrOpcode.SEND, sgList: [{ mr, length }] });
  await received;
  const { localAddress, remoteAddress } = connection;
  console.log(new TextDecoder().decode(echo.bytes.subarray(0, length)), localAddress.address, remoteAddress.address);
  await connection.disconnect();
  connection.close();
}

if (role === 'listen') await serve();
else await ask().catch((error) => console.log(error.message));
