import { setImmediate } from 'node:timers/promises';
import {
  AccessFlags,
  type CompletionQueue,
  type Context,
  type MemoryRegion,
  QpType,
  type QueuePair,
  SendFlags,
  WcExFlags,
  WcStatus,
  type WorkCompletion,
  WrOpcode,
} from '@verbs/core';
import { owned } from './devices.js';

const SLOTS = 64;
const ROOM = 2048;
const DEADLINE = 20_000;

/** A RAW_PACKET queue pair in RTS, with buffers posted. */
export class Port {
  readonly qp: QueuePair<typeof QpType.RAW_PACKET>;
  readonly #cq: CompletionQueue;
  readonly #out: MemoryRegion;
  readonly #in: MemoryRegion;
  readonly #received: { bytes: Uint8Array; wc: WorkCompletion }[] = [];
  #sent = 0;

  readonly ctx: Context;

  constructor(ctx: Context) {
    this.ctx = ctx;
    const pd = owned(ctx.allocPd());
    this.#cq = ctx.createCq(4 * SLOTS, { wcFlags: WcExFlags.BYTE_LEN | WcExFlags.QP_NUM | WcExFlags.FLOW_TAG });
    this.qp = pd.createQp({
      qpType: QpType.RAW_PACKET,
      sendCq: this.#cq,
      recvCq: this.#cq,
      cap: { maxSendWr: SLOTS, maxRecvWr: SLOTS },
    });
    this.qp.activate();
    this.#out = pd.allocMr(SLOTS * ROOM, AccessFlags.LOCAL_WRITE);
    this.#in = pd.allocMr(SLOTS * ROOM, AccessFlags.LOCAL_WRITE);
    for (let slot = 0; slot < SLOTS; slot++) this.#postRecv(slot);
  }

  /** Sends one frame, and waits until it has left. */
  async send(frame: Uint8Array): Promise<void> {
    const slot = this.#sent % SLOTS;
    this.#out.bytes.set(frame, slot * ROOM);
    this.qp.postSend({
      opcode: WrOpcode.SEND,
      wrId: 1000 + slot,
      sendFlags: SendFlags.SIGNALED,
      sgList: [{ mr: this.#out, offset: slot * ROOM, length: frame.byteLength }],
    });
    const wanted = this.#sent + 1;
    await this.#until(() => this.#sent >= wanted);
  }

  /** The next frame. */
  async receiveOne(): Promise<{ bytes: Uint8Array; wc: WorkCompletion }> {
    const [frame] = await this.receive();
    if (frame === undefined) throw new Error('no frame');
    return frame;
  }

  /** The next `count` frames. */
  async receive(count = 1): Promise<{ bytes: Uint8Array; wc: WorkCompletion }[]> {
    await this.#until(() => this.#received.length >= count);
    return this.#received.splice(0, count);
  }

  /** The frames that are there by the time that everything sent so far has arrived. */
  async drain(): Promise<Uint8Array[]> {
    for (let turn = 0; turn < 50; turn++) {
      this.#poll();
      await setImmediate();
    }
    return this.#received.splice(0).map(({ bytes }) => bytes);
  }

  #postRecv(slot: number): void {
    this.qp.postRecv({ wrId: slot, sgList: [{ mr: this.#in, offset: slot * ROOM, length: ROOM }] });
  }

  #poll(): void {
    for (const wc of this.#cq.poll(SLOTS)) {
      if (wc.status !== WcStatus.SUCCESS) throw new Error(`completion with status ${wc.status}`);
      const slot = Number(wc.wrId);
      if (slot >= 1000) {
        this.#sent++;
        continue;
      }
      this.#received.push({ bytes: this.#in.bytes.slice(slot * ROOM, slot * ROOM + wc.byteLen), wc });
      this.#postRecv(slot);
    }
  }

  async #until(done: () => boolean): Promise<void> {
    const end = Date.now() + DEADLINE;
    for (;;) {
      this.#poll();
      if (done()) return;
      if (Date.now() > end) throw new Error('nothing came in time');
      await setImmediate();
    }
  }
}

/** The addresses of the vectors. The destination is a group, so that the frame comes back to its own port. */
export const MACS = { dst: '01:50:56:19:20:a7', src: '24:8a:07:a5:28:c8' };
export const IPS = { src: '1.1.1.1', dst: '2.2.2.2' };

/** The vectors' inner frame: 100 bytes. */
export const INNER = Buffer.from(
  `0150561920a7248a07a528c80800450000560000400040110000010101010202020204d2162e00420000${'61'.repeat(58)}`,
  'hex',
);
