import { AccessFlags, Mtu, QpState } from '@verbs/core';
import { createEncap, EncapType, modifyQp, openDevice, QpCaps } from '@verbs/hbl';
import { rcSide } from '../rc-side.mjs';

const VXLAN = Uint8Array.of(0x08, 0, 0, 0, 0, 0, 42, 0);

/** RC through a VXLAN tunnel of @verbs/hbl. */
export function openSide({ device, me, seed, mode }) {
  const context = openDevice(device);
  const access =
    AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;
  const connect = (qp, peer) => {
    const encap = createEncap(context, {
      portNum: 1,
      encapType: EncapType.ENC_OVER_UDP,
      udpDstPort: 4789,
      header: VXLAN,
    });
    const hblAttr = { caps: QpCaps.ENCAP, encapNum: encap.encapNum };
    const ahAttr = { portNum: 1, grh: { dgid: peer.gid, sgidIndex: 0, hopLimit: 64 } };
    const common = { pathMtu: Mtu.MTU_1024, destQpNum: peer.qpNum, ahAttr };
    modifyQp(qp, { qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: access });
    modifyQp(qp, { qpState: QpState.RTR, ...common, rqPsn: 0, maxDestRdAtomic: 4, minRnrTimer: 12 }, hblAttr);
    modifyQp(qp, { qpState: QpState.RTS, sqPsn: 0, timeout: 16, retryCnt: 7, rnrRetry: 7, maxRdAtomic: 4 }, hblAttr);
    return encap;
  };
  const endpoint = (qp) => ({ gid: context.queryGid(1, 0), qpNum: qp.qpNum });
  return rcSide({ context, pd: context.allocPd(), me, seed, mode, connect, endpoint });
}
