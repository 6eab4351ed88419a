import {
  AccessFlags,
  type CompletionQueue,
  type Context,
  type MemoryRegion,
  Mtu,
  QpState,
  QpType,
  type QueuePair,
} from '@verbs/core';
import { createEncap, type Encap, type EncapAttr, modifyQp, QpCaps } from '@verbs/hbl';

const ACCESS = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;

/** One side of a tunnel: memory, and an RC queue pair behind an encapsulation. */
export class End {
  readonly gid: string;
  readonly cq: CompletionQueue;
  readonly mr: MemoryRegion;
  readonly qp: QueuePair;
  readonly #encap: Encap;

  constructor(context: Context, attr: EncapAttr, bytes: number) {
    this.gid = context.queryGid(attr.portNum, 0);
    this.cq = context.createCq(4, { channel: context.createCompChannel() });
    const pd = context.allocPd();
    this.mr = pd.allocMr(bytes, ACCESS);
    const cap = { maxSendWr: 1, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1 };
    this.qp = pd.createQp({ qpType: QpType.RC, sendCq: this.cq, recvCq: this.cq, cap });
    this.#encap = createEncap(context, attr);
  }

  /** Brings the queue pair to RTS. RTR names the encapsulation of received packets, RTS that of sent packets. */
  connect(peer: End): void {
    const { portNum, encapNum } = this.#encap;
    const encap = { caps: QpCaps.ENCAP, encapNum };
    const ahAttr = { portNum, grh: { dgid: peer.gid, sgidIndex: 0, hopLimit: 64 } };
    const common = { pathMtu: Mtu.MTU_1024, destQpNum: peer.qp.qpNum, ahAttr };
    modifyQp(this.qp, { qpState: QpState.INIT, pkeyIndex: 0, portNum, qpAccessFlags: ACCESS });
    modifyQp(this.qp, { qpState: QpState.RTR, ...common, rqPsn: 0, maxDestRdAtomic: 1, minRnrTimer: 12 }, encap);
    modifyQp(this.qp, { qpState: QpState.RTS, sqPsn: 0, timeout: 14, retryCnt: 7, rnrRetry: 7, maxRdAtomic: 1 }, encap);
  }
}
