import { type WorkCompletion, WrOpcode } from '@verbs/core';
import { check, fill } from '../messages/ends.js';
import { type Address, End } from '../rc/end.js';
import { DEPTH, type Player, sleepingPlayer } from '../rc/ping-pong.js';
import type { MeasuringEnd, ServingEnd, Way } from './way.js';

/** One end of RC SENDs over the software NIC. */
abstract class RcEnd implements ServingEnd, MeasuringEnd {
  readonly address: string;
  protected readonly end: End;
  protected readonly size: number;
  /** The bytes to send, and the received bytes. */
  protected readonly out: Uint8Array;
  protected readonly in: Uint8Array;
  #n = 0;

  constructor(size: number) {
    this.size = size;
    this.end = new End('soft0', 2 * size, DEPTH);
    this.address = JSON.stringify(this.end.address);
    const { bytes } = this.end.mr;
    this.out = bytes.subarray(0, size);
    this.in = bytes.subarray(size);
  }

  join(theirs: string): Promise<void> {
    this.end.join(JSON.parse(theirs) as Address);
    this.ready();
    return Promise.resolve();
  }

  /** The connection is there: receives may be posted. */
  protected abstract ready(): void;
  protected abstract send(): Promise<void> | void;
  protected abstract receive(): Promise<void>;

  async serve(): Promise<void> {
    for (;;) {
      await this.receive();
      check(this.in, this.#n, this.size);
      fill(this.out, this.#n++);
      await this.send();
    }
  }

  async measure(samples: Float64Array): Promise<void> {
    for (let i = 0; i < samples.length; i++) {
      const start = performance.now();
      fill(this.out, this.#n);
      await this.send();
      await this.receive();
      check(this.in, this.#n++, this.size);
      samples[i] = performance.now() - start;
    }
  }

  [Symbol.dispose](): void {
    this.end[Symbol.dispose]();
  }
}

/** Posts and polls, and sleeps by `cq.wait()`. */
class WaitEnd extends RcEnd {
  #player: Player<Promise<void>> | undefined;

  protected override ready(): void {
    this.#player = sleepingPlayer(this.end, this.size);
  }

  protected override send(): void {
    this.#player?.send();
  }

  protected override async receive(): Promise<void> {
    await this.#player?.receive();
  }
}

/** Nobody awaits the last request when the queue pair is closed: an answer can come before its acknowledgement. */
function awaitedLater<T>(request: Promise<T>): Promise<T> {
  request.catch(() => undefined);
  return request;
}

/** A promise for each request: `qp.send()` and `qp.recv()`. */
class PromiseEnd extends RcEnd {
  #incoming: Promise<WorkCompletion> | undefined;
  #sent: Promise<WorkCompletion> | undefined;

  protected override ready(): void {
    this.#incoming = this.#receive();
  }

  protected override async send(): Promise<void> {
    // The buffer is free.
    await this.#sent;
    const { qp, mr } = this.end;
    this.#sent = awaitedLater(qp.send({ opcode: WrOpcode.SEND, sgList: [{ mr, length: this.size }] }));
  }

  protected override async receive(): Promise<void> {
    const { byteLen = 0 } = (await this.#incoming) ?? {};
    if (byteLen !== this.size) throw new Error(`${byteLen} bytes came instead of ${this.size}`);
    this.#incoming = this.#receive();
  }

  #receive() {
    const { qp, mr } = this.end;
    return awaitedLater(qp.recv({ sgList: [{ mr, offset: this.size, length: this.size }] }));
  }
}

export const waitWay: Way = { serving: (size) => new WaitEnd(size), measuring: (size) => new WaitEnd(size) };
export const promiseWay: Way = { serving: (size) => new PromiseEnd(size), measuring: (size) => new PromiseEnd(size) };
