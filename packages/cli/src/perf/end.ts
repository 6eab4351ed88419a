import {
  AccessFlags,
  type AddressHandle,
  type CompletionQueue,
  type Context,
  type MemoryRegion,
  type ProtectionDomain,
  type QpEndpoint,
  QpType,
  type QueuePair,
  RecvBatch,
} from '@verbs/core';
import { Fields, type RemoteRegion, remoteRegion } from '@verbs/lib/rendezvous';
import type { Plan, Transport } from './plan.js';

const QKEY = 0x11111111;
/** Bytes of a datagram's receive buffer reserved for the routing header. */
const GRH_BYTES = 40;
/** Posted receives of a bandwidth measurement: perftest's number. */
const RX_DEPTH = 512;
/** Requests and receives of a latency: one is on its way at a time, and its completion may come behind the answer. */
const TURNS = 16;
const ACCESS = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;
const TYPES: Record<Transport, QpType> = { RC: QpType.RC, UC: QpType.UC, UD: QpType.UD };

/** The other end, as it tells. */
export interface Peer {
  gid: string;
  qpNum: number;
  /** Of its queue pair: `qp.connect` checks it. */
  endpoint: QpEndpoint;
  region: RemoteRegion;
}

/** Reads what `end.message` of the peer is, which is not trusted. */
export function readPeer(value: unknown): Peer {
  const fields = new Fields(value, 'end');
  const endpoint = fields.object('endpoint');
  return {
    gid: endpoint.text('gid'),
    qpNum: endpoint.integer('qpNum', 0xffffff),
    endpoint: (value as { endpoint: QpEndpoint }).endpoint,
    region: remoteRegion(fields.object('region')),
  };
}

/** One end of a measurement: a queue pair, and a region with a send half and a receive half. */
export class End implements Disposable {
  readonly plan: Plan;
  readonly pd: ProtectionDomain;
  readonly cq: CompletionQueue;
  readonly qp: QueuePair;
  readonly mr: MemoryRegion;
  /** Offset of the receive half. */
  readonly inbox: number;
  /** Receives that are posted at a time. */
  readonly rxDepth: number;
  readonly #endpoint: QpEndpoint;
  #peer: Peer | undefined;
  #ah: AddressHandle | undefined;

  /** `peer`: the address of the other end. */
  constructor(context: Context, plan: Plan, peer: string) {
    this.plan = plan;
    this.pd = context.allocPd();
    this.inbox = Math.ceil(Math.max(...plan.sizes) / 4096) * 4096;
    this.mr = this.pd.allocMr(2 * this.inbox + 4096, ACCESS);
    const { maxQpWr } = context.queryDevice();
    const isBandwidth = plan.kind === 'bw';
    const depth = isBandwidth ? plan.depth : Math.min(TURNS, maxQpWr);
    this.rxDepth = Math.min(isBandwidth ? RX_DEPTH : TURNS, maxQpWr);
    this.cq = context.createCq(depth + this.rxDepth, { channel: context.createCompChannel() });
    this.qp = this.pd.createQp({
      qpType: TYPES[plan.transport],
      sendCq: this.cq,
      recvCq: this.cq,
      cap: { maxSendWr: depth, maxRecvWr: this.rxDepth, maxSendSge: 1, maxRecvSge: 1 },
    });
    this.#endpoint = this.qp.endpoint({ peer });
  }

  /** What the other end needs. */
  get message(): unknown {
    return { endpoint: this.#endpoint, region: this.mr.remote() };
  }

  get peer(): Peer {
    if (this.#peer === undefined) throw new Error('the peer is not met yet');
    return this.#peer;
  }

  /** The address of a UD queue pair's requests; empty for connected queue pairs. */
  get address(): { ah: AddressHandle; remoteQpn: number; remoteQkey: number } | Record<string, never> {
    if (this.#ah === undefined) return {};
    return { ah: this.#ah, remoteQpn: this.peer.qpNum, remoteQkey: QKEY };
  }

  /** Bytes in front of a received message. */
  get grhBytes(): number {
    return this.plan.transport === 'UD' ? GRH_BYTES : 0;
  }

  /** The maximum of receives, each for any message of the plan; posted once, if the plan sends messages. */
  postReceives(): RecvBatch {
    const receives = new RecvBatch(this.rxDepth);
    if (this.plan.operation !== 'send') return receives;
    const length = Math.max(...this.plan.sizes) + this.grhBytes;
    for (let i = 0; i < this.rxDepth; i++) receives.set(i, { sgList: [{ mr: this.mr, offset: this.inbox, length }] });
    this.qp.postRecvBatch(receives);
    return receives;
  }

  join(peer: Peer): void {
    this.#peer = peer;
    if (this.plan.transport === 'UD') {
      this.qp.activate({ qkey: QKEY, psn: this.#endpoint.psn });
      const own = this.pd.context.gidTable(1).find(({ gid }) => gid === this.#endpoint.gid);
      this.#ah = this.pd.createAh({
        portNum: 1,
        grh: { dgid: peer.gid, hopLimit: 64, ...(own && { sgidIndex: own.index }) },
      });
      return;
    }
    this.qp.connect(peer.endpoint, {
      access: ACCESS,
      // 0.54 s, eight times: on a busy machine the other end may get no processor for seconds.
      timeout: 17,
      retryCnt: 7,
      rnrRetry: 7,
      minRnrTimer: 1,
    });
  }

  [Symbol.dispose](): void {
    this.pd.close();
    this.cq.close();
    this.cq.channel?.close();
  }
}
