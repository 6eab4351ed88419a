import { setTimeout as sleep } from 'node:timers/promises';
import { AccessFlags, openDevice, QpType, WrOpcode } from '@verbs/core';
import { askServer } from './meet.mjs';
import { bodyOf, entryIn, SLOT_BYTES, slotsOf, versionIn } from './table.mjs';

/** @import { Socket } from 'node:net' */
/** @import { Context, MemoryRegion, QueuePair } from '@verbs/core' */
/** @import { Answer } from './meet.mjs' */
/** @import { Entry } from './table.mjs' */

/** A writer holds a slot for three round trips. One that holds it for so long is gone. */
const PATIENCE_MS = 10_000;

/** 4.096 us * 2^18 for an acknowledgement, and seven times more: a server may stand still for some seconds. */
const TIMEOUT = 18;

/** A table of a server, which does nothing for it: all calls are RDMA. */
export class Store {
  #ctx;
  #qp;
  #mr;
  #socket;
  #answer;

  /** @param {{ ctx: Context, qp: QueuePair<typeof QpType.RC>, mr: MemoryRegion, socket: Socket, answer: Answer }} parts */
  constructor({ ctx, qp, mr, socket, answer }) {
    this.#ctx = ctx;
    this.#qp = qp;
    this.#mr = mr;
    this.#socket = socket;
    this.#answer = answer;
  }

  /** @param {{ device: string | undefined, host: string, port: number }} options */
  static async open({ device, host, port }) {
    const ctx = openDevice(device);
    /** @type {Socket | undefined} */
    let connected;
    try {
      const pd = ctx.allocPd();
      const cq = ctx.createCq(4, { channel: ctx.createCompChannel() });
      const cap = { maxSendWr: 4, maxRecvWr: 1 };
      const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap });
      const mr = pd.allocMr(SLOT_BYTES + 8, AccessFlags.LOCAL_WRITE);
      const { answer, socket } = await askServer({ host, port }, qp.endpoint());
      connected = socket;
      qp.connect(answer.endpoint, { timeout: TIMEOUT });
      return new Store({ ctx, qp, mr, socket, answer });
    } catch (error) {
      connected?.destroy();
      ctx.close();
      throw error;
    }
  }

  /** @param {string} key @returns {Promise<string | undefined>} */
  async get(key) {
    const found = await this.#find(key);
    return found?.entry?.value;
  }

  /** Stores a value; undefined deletes the key. @param {string} key @param {string | undefined} value */
  async set(key, value) {
    const body = bodyOf({ key, value });
    for (;;) {
      const found = await this.#find(key);
      if (found === undefined) throw new Error(`the table is full: none of its ${this.#answer.slots} slots is free`);
      const { slot, version, entry } = found;
      if (entry === undefined && value === undefined) return;
      // Only one writer makes the version odd. The others look again: the slot may have become another key's.
      if (!(await this.#exchange(slot, version, version + 1n))) continue;
      await this.#write(slot, body);
      await this.#exchange(slot, version + 1n, version + 2n);
      return;
    }
  }

  /** All keys that have a value. @param {(done: number, all: number) => void} [onProgress] */
  async entries(onProgress) {
    /** @type {{ key: string, value: string }[]} */
    const found = [];
    const { slots } = this.#answer;
    for (let slot = 0; slot < slots; slot++) {
      const { entry } = await this.#read(slot);
      if (entry?.value !== undefined) found.push({ key: entry.key, value: entry.value });
      onProgress?.(slot + 1, slots);
    }
    return found.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  close() {
    this.#socket.destroy();
    this.#ctx.close();
  }

  /**
   * The key's slot, or the free one where it belongs; undefined if there is neither.
   * @param {string} key
   */
  async #find(key) {
    for (const slot of slotsOf(key, this.#answer.slots)) {
      const { version, entry } = await this.#read(slot);
      if (entry === undefined || entry.key === key) return { slot, version, entry };
    }
    return undefined;
  }

  /**
   * A slot at rest, not while a writer changes it. There is no entry if it was never written.
   * @param {number} slot
   * @returns {Promise<{ version: bigint, entry: Entry | undefined }>}
   */
  async #read(slot) {
    const whole = [{ mr: this.#mr, offset: 0, length: SLOT_BYTES }];
    const since = performance.now();
    while (performance.now() - since < PATIENCE_MS) {
      await this.#qp.send({
        opcode: WrOpcode.RDMA_READ,
        remoteAddr: this.#at(slot),
        rkey: this.#answer.rkey,
        sgList: whole,
      });
      const version = versionIn(this.#mr.bytes);
      if (version % 2n === 0n && (await this.#version(slot)) === version) {
        return { version, entry: version === 0n ? undefined : entryIn(this.#mr.bytes) };
      }
      await sleep(1);
    }
    throw new Error(`slot ${slot} has been changing for ${PATIENCE_MS} ms: its writer has ended within a change`);
  }

  /** @param {number} slot */
  async #version(slot) {
    const { rkey } = this.#answer;
    await this.#qp.send({ opcode: WrOpcode.RDMA_READ, remoteAddr: this.#at(slot), rkey, sgList: this.#word });
    return versionIn(this.#mr.bytes.subarray(SLOT_BYTES));
  }

  /** @param {number} slot @param {Uint8Array} body */
  async #write(slot, body) {
    this.#mr.bytes.set(body, 8);
    const sgList = [{ mr: this.#mr, offset: 8, length: body.length }];
    const { rkey } = this.#answer;
    await this.#qp.send({ opcode: WrOpcode.RDMA_WRITE, remoteAddr: this.#at(slot) + 8n, rkey, sgList });
  }

  /**
   * True if the version was `from`, and is `to` now.
   * @param {number} slot
   * @param {bigint} from
   * @param {bigint} to
   */
  async #exchange(slot, from, to) {
    const opcode = WrOpcode.ATOMIC_CMP_AND_SWP;
    const { rkey } = this.#answer;
    await this.#qp.send({ opcode, remoteAddr: this.#at(slot), rkey, compare: from, swap: to, sgList: this.#word });
    return versionIn(this.#mr.bytes.subarray(SLOT_BYTES)) === from;
  }

  /** Where versions come to. */
  get #word() {
    return [{ mr: this.#mr, offset: SLOT_BYTES, length: 8 }];
  }

  /** @param {number} slot */
  #at(slot) {
    return BigInt(this.#answer.addr) + BigInt(slot * SLOT_BYTES);
  }
}
