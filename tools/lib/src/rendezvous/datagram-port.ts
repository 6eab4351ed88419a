import {
  AccessFlags,
  type AddressHandle,
  type CompletionChannel,
  type CompletionQueue,
  type Context,
  type MemoryRegion,
  type ProtectionDomain,
  QpType,
  type QueuePair,
  SendFlags,
  WcOpcode,
  type WorkCompletion,
  WrOpcode,
} from '@verbs/core';
import type { DatagramAddress } from './addresses.js';

/** The first 40 bytes of a UD queue pair's receive buffer are reserved for the routing header. */
const GRH_BYTES = 40;
const MAX_MESSAGE = 1024;
const SLOT_BYTES = GRH_BYTES + MAX_MESSAGE;
const RECV_SLOTS = 8;
const SEND_SLOTS = 8;
const QKEY = 0x11111111;

/** JSON messages, each in a UD datagram. Datagrams may be lost, duplicated or reordered. */
export class DatagramPort implements Disposable {
  readonly address: DatagramAddress;
  readonly #pd: ProtectionDomain;
  readonly #gidIndex: number;
  readonly #portNum: number;
  readonly #channel: CompletionChannel;
  readonly #cq: CompletionQueue;
  readonly #mr: MemoryRegion;
  readonly #bytes: Buffer;
  readonly #qp: QueuePair;
  readonly #handles = new Map<string, AddressHandle>();
  readonly #freeSendSlots: number[] = [];

  constructor(context: Context, pd: ProtectionDomain, { portNum = 1, gidIndex = 0 } = {}) {
    this.#pd = pd;
    this.#portNum = portNum;
    this.#gidIndex = gidIndex;
    this.#channel = context.createCompChannel();
    this.#cq = context.createCq(RECV_SLOTS + SEND_SLOTS, { channel: this.#channel });
    this.#mr = pd.allocMr((RECV_SLOTS + SEND_SLOTS) * SLOT_BYTES, AccessFlags.LOCAL_WRITE);
    this.#bytes = Buffer.from(this.#mr.buffer);
    this.#qp = pd.createQp({
      qpType: QpType.UD,
      sendCq: this.#cq,
      recvCq: this.#cq,
      cap: { maxSendWr: SEND_SLOTS, maxRecvWr: RECV_SLOTS, maxSendSge: 1, maxRecvSge: 1 },
    });
    this.#qp.activate({ portNum, qkey: QKEY });
    for (let slot = 0; slot < RECV_SLOTS; slot++) this.#postRecv(slot);
    for (let slot = RECV_SLOTS; slot < RECV_SLOTS + SEND_SLOTS; slot++) this.#freeSendSlots.push(slot);
    this.address = { gid: context.queryGid(portNum, gidIndex), qpNum: this.#qp.qpNum, qkey: QKEY };
  }

  /** Sends a message once. It is dropped if all send slots are busy, as on a congested wire. */
  send(to: DatagramAddress, message: unknown): void {
    const slot = this.#freeSendSlots.pop();
    if (slot === undefined) return;
    const length = this.#bytes.write(JSON.stringify(message), slot * SLOT_BYTES, MAX_MESSAGE);
    this.#qp.postSend({
      wrId: slot,
      opcode: WrOpcode.SEND,
      sendFlags: SendFlags.SIGNALED,
      sgList: [{ mr: this.#mr, offset: slot * SLOT_BYTES, length }],
      ah: this.#handleFor(to),
      remoteQpn: to.qpNum,
      remoteQkey: to.qkey,
    });
  }

  /** The received messages, until the signal is aborted. Datagrams that are not JSON are ignored. */
  async *messages(signal: AbortSignal): AsyncGenerator<unknown, void> {
    while (!signal.aborted) {
      for (const wc of this.#cq.poll(RECV_SLOTS + SEND_SLOTS)) {
        const message = this.#complete(wc);
        if (message !== undefined) yield message;
      }
      await this.#nextCompletion(signal);
    }
  }

  close(): void {
    this.#qp.close();
    for (const handle of this.#handles.values()) handle.close();
    this.#cq.close();
    this.#channel.close();
    this.#mr.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Waits for a completion, or until the signal is aborted. */
  async #nextCompletion(signal: AbortSignal): Promise<void> {
    try {
      await this.#cq.wait({ signal });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #complete(wc: WorkCompletion): unknown {
    const slot = Number(wc.wrId);
    if (!wc.ok) throw new Error(`a datagram failed: ${wc.statusText}`);
    if (wc.opcode !== WcOpcode.RECV) {
      this.#freeSendSlots.push(slot);
      return undefined;
    }
    const start = slot * SLOT_BYTES;
    const message = parse(this.#bytes.toString('utf8', start + GRH_BYTES, start + wc.byteLen));
    this.#postRecv(slot);
    return message;
  }

  #postRecv(slot: number): void {
    this.#qp.postRecv({ wrId: slot, sgList: [{ mr: this.#mr, offset: slot * SLOT_BYTES, length: SLOT_BYTES }] });
  }

  /** The address handle of a peer. RoCE addresses by GID, so it has a global route. */
  #handleFor({ gid }: DatagramAddress): AddressHandle {
    let handle = this.#handles.get(gid);
    if (handle === undefined) {
      const grh = { dgid: gid, sgidIndex: this.#gidIndex, hopLimit: 64 };
      handle = this.#pd.createAh({ portNum: this.#portNum, grh });
      this.#handles.set(gid, handle);
    }
    return handle;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
