import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { WcStatus, wcStatusText } from '@verbs/core';
import type { CapturedFrame } from '../capture-files/index.js';
import type { Devices } from './devices.js';
import { total } from './losses.js';
import { type Fronts, pair } from './pairing.js';

/** Frames that have not arrived after this time count as lost. Within a process they arrive at once. */
const PATIENCE_MS = 10_000;

/** A resulting frame, and the frame of the batch that it was made from. */
export interface Outcome {
  source: CapturedFrame;
  /** A view that the next batch overwrites. */
  data: Uint8Array;
}

/** Sends frames together and collects the resulting frames. */
export class Batch {
  readonly capacity: number;
  readonly #devices: Devices;
  readonly #fronts: Fronts;
  readonly #frames: CapturedFrame[] = [];
  readonly #freeSlots: number[] = [];

  constructor(devices: Devices, capacity: number, fronts: Fronts) {
    this.capacity = capacity;
    this.#devices = devices;
    this.#fronts = fronts;
    devices.receiver.receive(Array.from({ length: capacity }, (_, index) => index));
  }

  get size(): number {
    return this.#frames.length;
  }

  /** Copies the bytes. */
  add(frame: CapturedFrame): void {
    const slot = this.#devices.sender.slot(this.size, frame.data.length);
    slot.set(frame.data);
    this.#devices.prepare(slot);
    this.#frames.push({ ...frame, data: slot });
  }

  /** Sends the added frames and resolves with the resulting frames, in order. Missing frames were lost. */
  async run(): Promise<Outcome[]> {
    const { sender, receiver } = this.#devices;
    if (this.#freeSlots.length > 0) receiver.receive(this.#freeSlots.splice(0));
    const frames = this.#frames.splice(0);
    const lostBefore = total(this.#devices.losses.since());
    sender.send(frames.map(({ data }) => data.length));
    const arrived: Uint8Array[] = [];
    let sent = false;
    let lost = 0;
    for (let since = performance.now(); ;) {
      for (const { status, vendorErr } of sender.poll(1)) {
        if (status !== WcStatus.SUCCESS) throw failure('sent', status, vendorErr);
        sent = true;
      }
      const completions = receiver.poll(this.capacity);
      for (const { status, vendorErr, wrId, byteLen } of completions) {
        if (status !== WcStatus.SUCCESS) throw failure('received', status, vendorErr);
        this.#freeSlots.push(Number(wrId));
        arrived.push(receiver.slot(Number(wrId), byteLen));
      }
      if (completions.length > 0) since = performance.now();
      else lost = total(this.#devices.losses.since()) - lostBefore;
      const complete = sent && arrived.length + lost >= frames.length;
      if (complete || performance.now() - since > PATIENCE_MS) break;
      await yieldToEventLoop();
    }
    const sources = pair(
      frames.map(({ data }) => data),
      arrived,
      this.#fronts,
    );
    return arrived.flatMap((data, index) => {
      const source = frames[sources[index] ?? -1];
      return source === undefined ? [] : [{ source, data }];
    });
  }
}

function failure(what: string, status: number, vendorErr: number): Error {
  return new Error(`a frame could not be ${what}: ${wcStatusText(status)} (vendor error ${vendorErr})`);
}
