import { HEADER } from '../base/records.js';
import { type RecordSpace } from './request-records.js';

/** Work requests as bytes, one after the other, for one native call. It grows as needed and is used again. */
export class BatchWriter implements RecordSpace {
  bytes = new Uint8Array(4096);
  view = new DataView(this.bytes.buffer);
  #end: number = HEADER.BYTES;

  reset(): void {
    this.#end = HEADER.BYTES;
  }

  /** The number of posted requests, which a post call leaves in the header. */
  get posted(): number {
    return this.view.getUint32(HEADER.POSTED, true);
  }

  get badSge(): number {
    return this.view.getUint32(HEADER.SGE, true);
  }

  take(size: number): number {
    const at = this.#end;
    this.#end += size;
    if (this.#end > this.bytes.byteLength) {
      const larger = new Uint8Array(Math.max(this.#end, 2 * this.bytes.byteLength));
      larger.set(this.bytes);
      this.bytes = larger;
      this.view = new DataView(larger.buffer);
    }
    return at;
  }

  hold(): void {
    // The post call follows at once. From then on the addon keeps the objects of a request alive.
  }
}
