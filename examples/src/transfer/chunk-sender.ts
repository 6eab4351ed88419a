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
import { type Connection, dial } from '@verbs/core/rendezvous';
import { completionFailure, completions } from '@verbs/lib/rc';
import { Failure } from '@verbs/lib/failure';
import type { SourceFile } from '@verbs/lib/files';
import type { ChunkCipher } from './chunk-cipher.js';
import { type Acceptance, CHUNK_BYTES, CREDIT_BYTES, SLOTS, chunkCount, type Target } from './protocol.js';
import { yieldToEventLoop } from './yield-to-event-loop.js';

export type Progress = (bytes: number, total: number) => void;

/** The sending side's memory. */
export class ChunkSender {
  readonly #pd: ProtectionDomain;
  readonly #buffers: MemoryRegion;
  readonly #credits: MemoryRegion;
  readonly #creditCounts: DataView;
  readonly #cipher: ChunkCipher | undefined;
  /** Chunks that were posted, whose WRITE is complete, and whose slot the receiver gave back. */
  #posted = 0;
  #written = 0;
  #credited = 0;

  constructor(pd: ProtectionDomain, cipher?: ChunkCipher) {
    this.#pd = pd;
    this.#cipher = cipher;
    this.#buffers = pd.allocMr(SLOTS * CHUNK_BYTES, AccessFlags.LOCAL_WRITE);
    this.#credits = pd.allocMr(SLOTS * CREDIT_BYTES, AccessFlags.LOCAL_WRITE);
    this.#creditCounts = new DataView(this.#credits.buffer);
  }

  /** The connection for the chunks. */
  dial({ host, port }: Target, privateData: unknown, signal: AbortSignal): Promise<Connection> {
    return dial({
      host,
      port,
      pd: this.#pd,
      cap: { maxSendWr: SLOTS, maxRecvWr: SLOTS },
      access: AccessFlags.LOCAL_WRITE,
      privateData,
      prepare: (qp) => {
        for (let slot = 0; slot < SLOTS; slot++) this.#postCreditRecv(qp, slot);
      },
      signal,
    });
  }

  /** Sends the whole file and returns the seconds from before its first read to the last credit. */
  async send(
    { qp, cq }: Connection,
    file: SourceFile,
    to: Acceptance,
    { signal, onProgress }: { signal: AbortSignal; onProgress: Progress },
  ): Promise<number> {
    const chunks = chunkCount(file.size, CHUNK_BYTES);
    const slots = Math.min(SLOTS, to.slots);
    const started = process.hrtime.bigint();
    while (this.#written < chunks || this.#credited < chunks) {
      while (this.#posted < chunks && this.#posted - Math.min(this.#written, this.#credited) < slots) {
        this.#postChunk(qp, file, to);
      }
      for (const wc of await completions(cq, 2 * SLOTS, signal)) this.#complete(qp, wc);
      onProgress(Math.min(this.#credited * CHUNK_BYTES, file.size), file.size);
      await yieldToEventLoop(signal);
    }
    return Number(process.hrtime.bigint() - started) / 1e9;
  }

  /** Reads a chunk straight into registered memory and writes it into the receiver's. */
  #postChunk(qp: QueuePair<typeof QpType.RC>, file: SourceFile, to: Acceptance): void {
    const chunk = this.#posted++;
    const position = chunk * CHUNK_BYTES;
    const offset = (chunk % Math.min(SLOTS, to.slots)) * CHUNK_BYTES;
    const length = Math.min(CHUNK_BYTES, file.size - position);
    const bytes = new Uint8Array(this.#buffers.buffer, offset, length);
    file.read(bytes, position);
    this.#cipher?.apply(bytes);
    qp.postSend({
      wrId: chunk,
      opcode: WrOpcode.RDMA_WRITE_WITH_IMM,
      sendFlags: SendFlags.SIGNALED,
      sgList: [{ mr: this.#buffers, offset, length }],
      remoteAddr: to.window.addr + BigInt(offset),
      rkey: to.window.rkey,
      immData: chunk % 2 ** 32,
    });
  }

  #complete(qp: QueuePair<typeof QpType.RC>, wc: WorkCompletion): void {
    if (!wc.ok) throw completionFailure(wc, 'the receiver');
    if (wc.opcode !== WcOpcode.RECV) {
      this.#written += 1;
      return;
    }
    const slot = Number(wc.wrId);
    const low = this.#creditCounts.getUint32(slot * CREDIT_BYTES);
    const credited = this.#credited + ((low - this.#credited) >>> 0);
    if (wc.byteLen !== CREDIT_BYTES || credited > this.#posted) {
      throw new Failure('the receiver gave a credit for chunks that it never got', {
        hint: 'do both sides run the same version?',
      });
    }
    this.#credited = credited;
    this.#postCreditRecv(qp, slot);
  }

  #postCreditRecv(qp: QueuePair<typeof QpType.RC>, slot: number): void {
    const sge = { mr: this.#credits, offset: slot * CREDIT_BYTES, length: CREDIT_BYTES };
    qp.postRecv({ wrId: slot, sgList: [sge] });
  }
}
