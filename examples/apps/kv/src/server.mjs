import { AccessFlags, openDevice, QpType } from '@verbs/core';
import { serveClients } from './meet.mjs';
import { SLOT_BYTES } from './table.mjs';

/** @import { AddressInfo } from 'node:net' */
/** @import { QpEndpoint } from '@verbs/core' */

const REMOTE = AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC;

/**
 * Serves a table. The server's only work for a client is a queue pair, which lives as long as the client's connection.
 * @param {{ device: string | undefined, host: string, port: number, slots: number, onTrouble: (text: string) => void }} options
 */
export async function serve({ device, host, port, slots, onTrouble }) {
  const ctx = openDevice(device);
  const pd = ctx.allocPd();
  const cq = ctx.createCq(1);
  const table = pd.allocMr(slots * SLOT_BYTES, AccessFlags.LOCAL_WRITE | REMOTE);
  let clients = 0;
  const welcome = (/** @type {unknown} */ request) => {
    const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } });
    try {
      qp.init({ access: REMOTE });
      const endpoint = qp.endpoint();
      qp.connect(/** @type {QpEndpoint} */ (request), { access: REMOTE });
      clients += 1;
      return {
        endpoint,
        addr: String(table.addr),
        rkey: table.rkey,
        slots,
        close: () => {
          qp.close();
        },
      };
    } catch (error) {
      qp.close();
      throw error;
    }
  };
  const server = await serveClients({ host, port }, welcome, onTrouble);
  return {
    device: ctx.device.name,
    port: /** @type {AddressInfo} */ (server.address()).port,
    clients: () => clients,
    close: () => {
      server.close();
      ctx.close();
    },
  };
}
