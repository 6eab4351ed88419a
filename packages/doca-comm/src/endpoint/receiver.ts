import { uint8Array } from '@verbs/core/provider';
import type { End } from '../base/end.js';
import type { Received } from './types.js';
import { DocaError, DocaStatus } from '../base/errors.js';
import { receiveHints } from './hints.js';
import type { PeerAddr } from './peer-addr.js';
import type { Peers } from './peers.js';

/** Receives an endpoint's messages, in a buffer of its own or in the program's. */
export class Receiver {
  readonly #peers: Peers;
  readonly #from = new Uint32Array(1);
  #slab = new Uint8Array(0);

  constructor(peers: Peers) {
    this.#peers = peers;
  }

  /** The endpoint is active from now on; `size` is its longest message. */
  start(size: number): void {
    this.#slab = new Uint8Array(size);
  }

  /** `doca_comm_channel_ep_recvfrom`; undefined if there is no message. */
  receive(end: End, buffer: Uint8Array | undefined): Received | undefined {
    const target = buffer === undefined ? this.#slab : uint8Array(buffer, 'buffer');
    if (buffer !== undefined && buffer.length < this.#slab.length) {
      throw Object.assign(
        new RangeError(`buffer must have at least ${this.#slab.length} bytes (maxMsgSize); it has ${buffer.length}`),
        { code: 'ERR_OUT_OF_RANGE' },
      );
    }
    let result, number;
    do {
      result = end.recvFrom(target, this.#from);
      if (result === -DocaStatus.AGAIN) return undefined;
      number = this.#from[0] ?? 0;
      // Messages that waited when the program disconnected their sender are nobody's, and its end is no news. What tells
      // of the endpoint itself comes again and again.
    } while ((result >= 0 || result === -DocaStatus.CONNECTION_RESET) && this.#peers.isLeaving(number));
    if (result < 0) {
      const error = new DocaError(-result, end.syscall('recvfrom'), receiveHints[-result]);
      throw result === -DocaStatus.CONNECTION_RESET && number !== 0
        ? Object.assign(error, { peer: this.#peers.of(number) })
        : error;
    }
    // A new peer is announced to the program, which may receive in its listener: the message must be out of the slab.
    const data = buffer === undefined ? target.slice(0, result) : target.subarray(0, result);
    return { peer: this.#peers.of(number), data };
  }
}

/** The peer of a CONNECTION_RESET. */
export function lostPeer(error: unknown): PeerAddr | undefined {
  if (!(error instanceof DocaError) || error.status !== DocaStatus.CONNECTION_RESET) return undefined;
  return (error as { peer?: PeerAddr }).peer;
}
