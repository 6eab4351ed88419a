import { connect, getDevices, listen } from '@verbs/rdmacm';
import { RcTraffic } from '../rc-traffic.mjs';

const PORT = 7471;
const cap = { maxSendWr: 16, maxRecvWr: 32 };

/** RC that the connection manager connects: side 1 listens, side 0 connects. */
export function openSide({ address, me, seed, mode }) {
  // The library keeps the devices open that it has opened once.
  getDevices();
  const server = me === 1 ? listen({ host: address, port: PORT }) : undefined;
  const make = () => {
    let connection;
    let traffic;
    return {
      endpoint: { address },
      async connect(peer) {
        connection =
          server === undefined
            ? await connect({ host: peer.address, port: PORT, timeout: 10_000, qp: { cap } })
            : await (await server.request()).accept({ qp: { cap } });
        const { pd, qp } = connection;
        // The library's own queue is for completions of both directions.
        traffic = new RcTraffic({ pd, qp, cq: qp.sendCq, me, seed, mode });
        return { remote: traffic.remote, pages: traffic.pages };
      },
      start: (peer, limit) => traffic.start(peer, limit),
      stop: () => traffic?.stop(),
      report: () => traffic.report(),
      close() {
        traffic?.close();
        connection?.close();
      },
    };
  };
  return { make, close: () => server?.close() };
}
