// Traffic of an RC connection in both directions at once, of which every byte is compared: SEND, WRITE with immediate,
// READ and FETCH AND ADD, with messages of one packet and of several.
import { setImmediate, setTimeout } from 'node:timers/promises';
import { SendFlags, WcOpcode, WrOpcode } from '@verbs/core';
import { Pattern, randomOf } from './pattern.mjs';
import { Latencies } from './latencies.mjs';
import { DEPTH, LONGEST, PeerMemory, RcMemory, RECEIVES, SLOT, slotOf } from './rc-memory.mjs';
import { Tally } from './tally.mjs';

/** Requests without a rest. */
const BURST = 64;

/** Receive requests have their slot as identification, and this. */
const RECEIVE_ID = 1000;

export class RcTraffic {
  #qp;
  #cq;
  #me;
  #peer;
  #pattern;
  #random;
  #memory;
  #free = Array.from({ length: DEPTH }, (_, slot) => slot);
  #pending = new Map();
  #stopped = true;
  #closed = false;
  #added = 0n;
  #next = 0;
  #expected = 0;
  #limit = Infinity;
  #posted = 0;
  #resting = false;
  #tally = new Tally();
  #latencies = new Latencies();
  #begun = new Map();

  constructor({ pd, qp, cq, me, seed, mode }) {
    this.#qp = qp;
    this.#cq = cq;
    this.#me = me;
    this.#pattern = new Pattern(seed);
    this.#random = randomOf(seed + me + 1);
    this.#memory = new RcMemory(pd, this.#pattern, me);
    for (let slot = 0; slot < RECEIVES; slot++) this.#receive(slot);
    const pump = mode === 'poll' ? this.#poll() : this.#await();
    pump.catch((error) => {
      if (!this.#closed) this.#tally.wrong(`the completion queue failed: ${error.message}`);
    });
  }

  get remote() {
    return this.#memory.remote;
  }

  get pages() {
    return this.#memory.pages;
  }

  start(peer, limit = Infinity) {
    this.#peer = new PeerMemory(peer);
    this.#limit = limit;
    this.#stopped = false;
    this.#send();
  }

  /** Sends nothing more, and resolves when all that was sent is completed, or the connection has failed. */
  async stop() {
    this.#stopped = true;
    while (this.#pending.size > 0 && !this.#closed) await setTimeout(2);
  }

  report() {
    return {
      ...this.#tally.report(),
      messages: this.#expected,
      sent: this.#next,
      pending: this.#pending.size,
      latency: this.#latencies.take(),
    };
  }

  close() {
    this.#closed = true;
    this.#qp.close();
    this.#cq.close();
    this.#memory.close();
  }

  async #await() {
    for await (const wc of this.#cq) this.#handle(wc);
  }

  async #poll() {
    for (let idle = 0; !this.#closed;) {
      const completions = this.#cq.poll(32);
      for (const wc of completions) this.#handle(wc);
      idle = completions.length > 0 ? 0 : idle + 1;
      await (idle > 50 ? setTimeout(1) : setImmediate());
    }
  }

  #handle(wc) {
    if (this.#closed) return;
    this.#tally.completion(wc);
    const id = Number(wc.wrId);
    const receive = id >= RECEIVE_ID;
    if (receive && wc.ok) this.#received(id - RECEIVE_ID, wc);
    if (!receive) {
      const done = this.#pending.get(id);
      this.#pending.delete(id);
      this.#latencies.add(performance.now() - this.#begun.get(id));
      const more = wc.ok && done?.() === true;
      if (!more) this.#free.push(id);
    }
    if (!this.#tally.failed) this.#send();
  }

  #received(slot, wc) {
    const number = this.#expected++;
    const write = wc.opcode === WcOpcode.RECV_RDMA_WITH_IMM;
    const expected = this.#pattern.message(1 - this.#me, number, write ? SLOT : LONGEST);
    const { rx, window } = this.#memory;
    const place = write ? window.subarray(slotOf(number)) : rx.bytes.subarray(slot * LONGEST);
    if (write && wc.immData !== number) this.#tally.wrong(`message ${number} has the immediate ${wc.immData}`);
    this.#compare(`message ${number}`, place.subarray(0, expected.length), expected, wc.byteLen);
    this.#receive(slot);
  }

  #receive(slot) {
    const { rx } = this.#memory;
    this.#tally.attempt(() => {
      this.#qp.postRecv({ wrId: RECEIVE_ID + slot, sgList: [{ mr: rx, offset: slot * LONGEST, length: LONGEST }] });
    });
  }

  #compare(what, bytes, expected, length) {
    if (length !== expected.length) this.#tally.wrong(`${what} has ${length} bytes instead of ${expected.length}`);
    else if (Buffer.compare(bytes, expected) !== 0) this.#tally.wrong(`${what} has wrong bytes`);
    else this.#tally.verified(length);
  }

  #send() {
    while (!this.#stopped && !this.#resting && this.#free.length > 0 && this.#next < this.#limit) {
      // Other processes of the machine want to run, too.
      if (++this.#posted % BURST === 0) void this.#rest();
      const slot = this.#free.pop();
      const choice = this.#random();
      if (choice < 0.5) this.#sendMessage(slot);
      else if (choice < 0.7) this.#write(slot);
      else if (choice < 0.8) this.#read(slot);
      else if (choice < 0.9) this.#writeAndRead(slot);
      else this.#add(slot);
    }
  }

  async #rest() {
    this.#resting = true;
    await setTimeout(1);
    this.#resting = false;
    if (!this.#closed && !this.#tally.failed) this.#send();
  }

  /** `done` is called when it has succeeded; its slot is free then, unless it returns true. */
  #post(slot, request, done) {
    this.#pending.set(slot, done);
    this.#begun.set(slot, performance.now());
    const posted = this.#tally.attempt(() => {
      this.#qp.postSend({ wrId: slot, sendFlags: SendFlags.SIGNALED, ...request });
    });
    if (!posted) this.#pending.delete(slot);
  }

  #sendMessage(slot) {
    const message = this.#pattern.message(this.#me, this.#next++, LONGEST);
    this.#post(slot, { opcode: WrOpcode.SEND, sgList: [this.#fill(slot, message)] });
  }

  #write(slot) {
    const number = this.#next++;
    const message = this.#pattern.message(this.#me, number, SLOT);
    const { rkey } = this.#peer;
    const sgList = [this.#fill(slot, message)];
    const opcode = WrOpcode.RDMA_WRITE_WITH_IMM;
    this.#post(slot, { opcode, immData: number, sgList, remoteAddr: this.#peer.window(number), rkey });
  }

  #read(slot) {
    const { addr, size, expected } = this.#peer.read(this.#pattern, 1 - this.#me, this.#random);
    this.#readBack(slot, addr, expected.subarray(0, size));
  }

  #readBack(slot, remoteAddr, expected) {
    const sgList = [this.#element(slot, expected.length)];
    this.#post(slot, { opcode: WrOpcode.RDMA_READ, sgList, remoteAddr, rkey: this.#peer.rkey }, () => {
      const bytes = this.#memory.tx.bytes.subarray(slot * LONGEST, slot * LONGEST + expected.length);
      this.#compare('a READ', bytes, expected, expected.length);
    });
  }

  #writeAndRead(slot) {
    const message = this.#pattern.message(this.#me, Math.floor(this.#random() * 2 ** 20), SLOT);
    const sgList = [this.#fill(slot, message)];
    const remoteAddr = this.#peer.sink(slot);
    this.#post(slot, { opcode: WrOpcode.RDMA_WRITE, sgList, remoteAddr, rkey: this.#peer.rkey }, () => {
      this.#readBack(slot, remoteAddr, message);
      return true;
    });
  }

  // The counter is changed by this side alone.
  #add(slot) {
    const expected = this.#added++;
    const { counter: remoteAddr, rkey } = this.#peer;
    const request = { opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, remoteAddr, rkey, add: 1n };
    this.#post(slot, { ...request, sgList: [this.#element(slot, 8)] }, () => {
      const { buffer, byteOffset } = this.#memory.tx.bytes;
      const was = new DataView(buffer, byteOffset + slot * LONGEST, 8).getBigUint64(0, true);
      if (was !== expected) this.#tally.wrong(`an atomic found ${was} instead of ${expected}`);
      else this.#tally.verified(8);
    });
  }

  #element(slot, length) {
    return { mr: this.#memory.tx, offset: slot * LONGEST, length };
  }

  #fill(slot, message) {
    this.#memory.tx.bytes.set(message, slot * LONGEST);
    return this.#element(slot, message.length);
  }
}
