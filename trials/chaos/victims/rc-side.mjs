// One side of RC connections that are made out of band: a domain, and as many connections after each other as are wanted.
import { AccessFlags, QpType } from '@verbs/core';
import { RcTraffic } from './rc-traffic.mjs';

const { LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC } = AccessFlags;

/** 4.096 us * 2^16 = 0.27 s, eight times: a dead peer is noticed after 2.1 s, and a busy machine is no dead peer. */
const OPTIONS = {
  timeout: 16,
  retryCnt: 7,
  rnrRetry: 7,
  access: LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC,
};

export function rcSide({ context, pd, me, seed, mode, connect, endpoint }) {
  return {
    /** A queue pair with its traffic, not connected yet. */
    make() {
      const cq = context.createCq(128, { channel: context.createCompChannel() });
      const qp = pd.createQp({
        qpType: QpType.RC,
        sendCq: cq,
        recvCq: cq,
        cap: { maxSendWr: 16, maxRecvWr: 32, maxSendSge: 1, maxRecvSge: 1 },
      });
      let traffic;
      // What the connection needs as long as it is used.
      let held;
      return {
        endpoint: endpoint?.(qp) ?? qp.endpoint(),
        connect(peer) {
          if (connect === undefined) qp.connect(peer, OPTIONS);
          else held = connect(qp, peer);
          traffic = new RcTraffic({ pd, qp, cq, me, seed, mode });
          return { remote: traffic.remote, pages: traffic.pages };
        },
        start: (peer, limit) => traffic.start(peer, limit),
        stop: () => traffic?.stop(),
        report: () => traffic.report(),
        close() {
          if (traffic === undefined) qp.close();
          else traffic.close();
          held?.close();
          cq.close();
        },
      };
    },
    close() {
      context.close();
    },
  };
}
