import {
  AccessFlags,
  type CompletionQueue,
  type Context,
  type MemoryRegion,
  openDevice,
  QpType,
  type QueuePair,
} from '@verbs/core';

/** The address that the two ends exchange. */
export interface Address {
  gid: string;
  qpNum: number;
  rkey: number;
  /** Of the buffer: decimal text, for JSON. */
  addr: string;
}

/** One end of an RC connection, as native/queue_pair.c makes it. */
export class End implements Disposable {
  readonly cq: CompletionQueue;
  readonly qp: QueuePair;
  readonly mr: MemoryRegion;
  readonly address: Address;
  readonly #context: Context;

  constructor(device: string, bytes: number, depth: number) {
    this.#context = openDevice(device);
    const pd = this.#context.allocPd();
    this.cq = this.#context.createCq(2 * depth, { channel: this.#context.createCompChannel() });
    this.mr = pd.allocMr(bytes, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
    const cap = { maxSendWr: depth, maxRecvWr: depth, maxSendSge: 1, maxRecvSge: 1 };
    this.qp = pd.createQp({ qpType: QpType.RC, sendCq: this.cq, recvCq: this.cq, cap });
    const { qpNum } = this.qp;
    const { rkey, addr } = this.mr;
    this.address = { gid: this.#context.defaultGid().gid, qpNum, rkey, addr: String(addr) };
  }

  join({ gid, qpNum }: Address): void {
    const { activeMtu } = this.#context.queryPort(1);
    const access = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;
    this.qp.connect({ remote: { qpNum, gid }, pathMtu: activeMtu, access, timeout: 14, retryCnt: 7, rnrRetry: 7 });
  }

  [Symbol.dispose](): void {
    this.#context.close();
  }
}
