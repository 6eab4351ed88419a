import { randomInt } from 'node:crypto';
import {
  AccessFlags,
  type CompletionChannel,
  type CompletionQueue,
  type Context,
  type ProtectionDomain,
  QpType,
  type QueuePair,
} from '@verbs/core';
import type { ConnectionAddress } from '../rendezvous/addresses.js';

export interface EndpointOptions {
  maxSendWr: number;
  maxRecvWr: number;
  /** The peer's access to this side's memory: AccessFlags. */
  access?: number;
  portNum?: number;
  gidIndex?: number;
}

/** One side of an RC connection: a queue pair with a completion queue of its own. */
export class Endpoint implements Disposable {
  readonly address: ConnectionAddress;
  readonly cq: CompletionQueue;
  readonly qp: QueuePair;
  readonly #channel: CompletionChannel;
  readonly #options: EndpointOptions;

  constructor(context: Context, pd: ProtectionDomain, options: EndpointOptions) {
    const { maxSendWr, maxRecvWr, portNum = 1, gidIndex = 0 } = options;
    this.#options = options;
    this.#channel = context.createCompChannel();
    this.cq = context.createCq(maxSendWr + maxRecvWr, { channel: this.#channel });
    this.qp = pd.createQp({
      qpType: QpType.RC,
      sendCq: this.cq,
      recvCq: this.cq,
      cap: { maxSendWr, maxRecvWr, maxSendSge: 1, maxRecvSge: 1 },
    });
    this.address = {
      gid: context.queryGid(portNum, gidIndex),
      qpNum: this.qp.qpNum,
      psn: randomInt(1 << 24),
      mtu: context.queryPort(portNum).activeMtu,
    };
  }

  /** Brings the queue pair to RTS. A dead peer is noticed after about half a second. */
  connect(remote: ConnectionAddress): void {
    const { portNum = 1, gidIndex = 0, access = 0 } = this.#options;
    this.qp.connect({
      portNum,
      remote: { qpNum: remote.qpNum, psn: remote.psn, gid: remote.gid },
      psn: this.address.psn,
      sgidIndex: gidIndex,
      pathMtu: Math.min(this.address.mtu, remote.mtu),
      access: AccessFlags.LOCAL_WRITE | access,
      // 4.096 us * 2^14 = 67 ms, eight times: a busy machine leaves a process without a processor for less.
      timeout: 14,
      retryCnt: 7,
      rnrRetry: 7,
      minRnrTimer: 1,
    });
  }

  close(): void {
    this.qp.close();
    this.cq.close();
    this.#channel.close();
  }
  [Symbol.dispose](): void {
    this.close();
  }
}
