import {
  AccessFlags,
  type MemoryRegion,
  type ProtectionDomain,
  type QpType,
  type QueuePair,
  SendFlags,
  WcOpcode,
  type WorkCompletion,
  WrOpcode,
} from '@verbs/core';
import type { Connection, Request } from '@verbs/core/rendezvous';
import { completionFailure, completions } from '@verbs/lib/rc';
import { Failure } from '@verbs/lib/failure';
import type { TargetFile } from '@verbs/lib/files';
import type { ChunkCipher } from './chunk-cipher.js';
import { CREDIT_BYTES, type Offer, SLOTS, acceptanceMessage, chunkCount } from './protocol.js';
import { yieldToEventLoop } from './yield-to-event-loop.js';

/** The receiving side's memory: a window that the sender writes to, a slot for each chunk on its way. */
export class ChunkReceiver {
  readonly #pd: ProtectionDomain;
  readonly #window: MemoryRegion;
  readonly #credits: MemoryRegion;
  readonly #creditCounts: DataView;
  readonly #offer: Offer;
  readonly #cipher: ChunkCipher | undefined;
  #received = 0;
  #creditsPosted = 0;
  #creditsConfirmed = 0;
  #creditDue = false;

  constructor(pd: ProtectionDomain, offer: Offer, cipher?: ChunkCipher) {
    this.#pd = pd;
    this.#offer = offer;
    this.#cipher = cipher;
    this.#window = pd.allocMr(SLOTS * offer.chunkBytes, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE);
    this.#credits = pd.allocMr(SLOTS * CREDIT_BYTES, AccessFlags.LOCAL_WRITE);
    this.#creditCounts = new DataView(this.#credits.buffer);
  }

  /** The connection for the chunks. */
  accept(request: Request, signal: AbortSignal): Promise<Connection> {
    return request.accept({
      pd: this.#pd,
      cap: { maxSendWr: SLOTS, maxRecvWr: SLOTS },
      access: AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE,
      privateData: acceptanceMessage(this.#window),
      // The data goes to the window; a WRITE with immediate takes a receive request for its notification alone.
      prepare: (qp) => {
        for (let slot = 0; slot < SLOTS; slot++) qp.postRecv({ wrId: slot, sgList: [] });
      },
      signal,
    });
  }

  /** Receives all chunks into the file. */
  async receive({ qp, cq }: Connection, target: TargetFile, signal: AbortSignal): Promise<void> {
    const chunks = chunkCount(this.#offer.size, this.#offer.chunkBytes);
    while (this.#received < chunks || this.#creditsConfirmed < this.#creditsPosted || this.#creditDue) {
      for (const wc of await completions(cq, 2 * SLOTS, signal)) this.#complete(qp, wc, target);
      await yieldToEventLoop(signal);
    }
  }

  #complete(qp: QueuePair<typeof QpType.RC>, wc: WorkCompletion, target: TargetFile): void {
    if (!wc.ok) throw completionFailure(wc, 'the sender');
    if (wc.opcode !== WcOpcode.RECV_RDMA_WITH_IMM) {
      this.#creditsConfirmed += 1;
      if (this.#creditDue) this.#postCredit(qp);
      return;
    }
    const { size, chunkBytes } = this.#offer;
    const position = this.#received * chunkBytes;
    if (wc.immData !== this.#received % 2 ** 32 || wc.byteLen !== Math.min(chunkBytes, size - position)) {
      throw new Failure('the sender wrote a chunk out of order', { hint: 'do both sides run the same version?' });
    }
    const slot = this.#received % SLOTS;
    const bytes = new Uint8Array(this.#window.buffer, slot * chunkBytes, wc.byteLen);
    this.#cipher?.apply(bytes);
    target.write(bytes, position);
    qp.postRecv({ wrId: slot, sgList: [] });
    this.#received += 1;
    this.#postCredit(qp);
  }

  /** Gives slots back: all chunks so far are in the file. One credit may speak for several chunks. */
  #postCredit(qp: QueuePair<typeof QpType.RC>): void {
    this.#creditDue = this.#creditsPosted - this.#creditsConfirmed >= SLOTS;
    if (this.#creditDue) return;
    const offset = (this.#creditsPosted % SLOTS) * CREDIT_BYTES;
    this.#creditCounts.setUint32(offset, this.#received % 2 ** 32);
    qp.postSend({
      wrId: this.#creditsPosted,
      opcode: WrOpcode.SEND,
      sendFlags: SendFlags.SIGNALED,
      sgList: [{ mr: this.#credits, offset, length: CREDIT_BYTES }],
    });
    this.#creditsPosted += 1;
  }
}
