// A connection between two ports of a device: both queue pairs behind an encapsulation, work by a mapped queue, doorbells
// by a user FIFO. Only calls that the driver of a Gaudi2 accepts.
import { AccessFlags, Mtu, QpState, QpType } from '@verbs/core';
import * as hbl from '@verbs/hbl';
import { tunnelOf } from './tunnels.mjs';

/** @import { Context, ProtectionDomain } from '@verbs/core' */

/** Entries of the queue, and so messages on their way at a time. */
export const DEPTH = 16;

/** @param {Context} ctx @param {ProtectionDomain} pd @param {{ portNum: number, kind: string, id: number }} options */
function endOn(ctx, pd, { portNum, kind, id }) {
  const cq = hbl.createCq(ctx, DEPTH, { portNum });
  const cap = { maxSendWr: DEPTH, maxRecvWr: 1 };
  const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap });
  const qpAccessFlags = AccessFlags.REMOTE_WRITE;
  hbl.modifyQp(qp, { qpState: QpState.INIT, pkeyIndex: 0, portNum, qpAccessFlags });
  const encap = hbl.createEncap(ctx, tunnelOf(kind, { portNum, id }));
  return { portNum, cq, qp, qpNum: hbl.queryQp(qp).qpNum, gid: ctx.queryGid(portNum, 0), encap };
}

/** @typedef {ReturnType<typeof endOn>} End */

/** @param {End} end @param {End} peer @param {{ localKey: number, remoteKey: number }} keys */
function connect({ qp, portNum, encap }, peer, keys) {
  const hblAttr = { caps: hbl.QpCaps.ENCAP, encapNum: encap.encapNum, ...keys };
  const ahAttr = { portNum, grh: { dgid: peer.gid, sgidIndex: 0, hopLimit: 64 } };
  const path = { pathMtu: Mtu.MTU_1024, destQpNum: peer.qpNum, ahAttr };
  hbl.modifyQp(qp, { qpState: QpState.RTR, ...path, rqPsn: 0, maxDestRdAtomic: 1, minRnrTimer: 12 }, hblAttr);
  const repeat = { timeout: 14, retryCnt: 7, rnrRetry: 7 };
  hbl.modifyQp(qp, { qpState: QpState.RTS, sqPsn: 0, ...repeat, maxRdAtomic: 1 }, hblAttr);
}

/**
 * @param {Context} ctx
 * @param {ProtectionDomain} pd
 * @param {{ from: number, to: number, kind: string, id: number, keys: { localKey: number, remoteKey: number } }} options
 */
export function openLine(ctx, pd, { from, to, kind, id, keys }) {
  const sender = endOn(ctx, pd, { portNum: from, kind, id });
  const receiver = endOn(ctx, pd, { portNum: to, kind, id });
  connect(sender, receiver, keys);
  connect(receiver, sender, keys);
  const { sendQueue, qpNum } = hbl.queryQp(sender.qp);
  const fifo = hbl.createUsrFifo(ctx, { portNum: from, usrFifoType: hbl.UsrFifoType.DB });
  if (sendQueue === undefined || !fifo.mapped) {
    throw new Error('the work queue and the FIFO are not mapped into this process: the model does so on x64 only');
  }
  return { sender, receiver, sendQueue, qpNum, fifo };
}
