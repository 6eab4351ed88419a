import { CaptureFileError, FrameReader, type FrameRecord, type JournalFields } from '@verbs/lib/capture-files';
import { PacketScan } from '@verbs/lib/packets';
import { Failure, fileFailure } from '@verbs/lib/failure';
import { TimeOrder } from './time-order.js';

/** An RDMA packet as one end saw it: its frame, and what its headers say. The next one overwrites both. */
export interface Observation {
  readonly frame: FrameRecord;
  readonly packet: PacketScan;
}

/** The RDMA packets of a capture file, as often as they are wanted: memory holds where they are. */
export class Observations implements Disposable {
  /** Packets of other protocols, after a walk. */
  others = 0;
  /** The file ends in the middle of a packet, after a walk. */
  cutOff = false;
  readonly #path: string;
  readonly #reader: FrameReader;
  readonly #packet = new PacketScan();

  constructor(path: string) {
    this.#path = path;
    this.#reader = this.#guarded(() => new FrameReader(path, { rawIp: true, cutOff: 'read' }));
  }

  /** Calls back with each of them in the order of their times. */
  walk(take: (observation: Observation) => void): void {
    this.#guarded(() => {
      const order = new TimeOrder();
      for (const frame of this.#reader.records()) order.add(frame);
      this.cutOff = this.#reader.cutOff;
      this.others = 0;
      for (const at of order.positions()) {
        const observation = this.#read(at);
        if (observation === undefined) this.others += 1;
        else take(observation);
      }
    });
  }

  /** The packet at a position, which a walk found there. */
  again(at: number): Observation {
    const observation = this.#guarded(() => this.#read(at));
    if (observation === undefined) throw new Failure(`${this.#path} was changed while it was read`);
    return observation;
  }

  /** What the capture's writers noted beside the packets, after a walk. */
  get journal(): readonly JournalFields[] {
    return this.#reader.journal;
  }

  [Symbol.dispose](): void {
    this.#reader[Symbol.dispose]();
  }

  #read(at: number): Observation | undefined {
    const frame = this.#reader.read(at);
    const packet = this.#packet;
    return packet.scan(frame.view, frame.offset, frame.size, frame.link, frame.length) ? { frame, packet } : undefined;
  }

  #guarded<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (error instanceof CaptureFileError) throw new Failure(error.message, { cause: error });
      throw fileFailure(`cannot read the capture ${this.#path}`, error);
    }
  }
}
