import type { Device, Representor } from '../base/device.js';
import type { PeerAddr } from './peer-addr.js';

/** The properties of an endpoint, which are set before `listen` or `connect`, and how it waits. */
export interface EndpointOptions {
  /** The device that it goes through; needed by `listen` and `connect`. */
  device?: Device;
  /** Of a service: the representor of the host's function that it serves. */
  deviceRep?: Representor;
  /** Bytes. A minimum: read back what it became. */
  maxMsgSize?: number;
  /** Messages. Rounded up to a power of two. */
  sendQueueSize?: number;
  /** Messages. Rounded up to a power of two. */
  recvQueueSize?: number;
  /**
   * Microseconds, up to 10,000, that `send()` and `receive()` poll before they sleep; 100 without it. Other callbacks run
   * meanwhile. The default is longer than what being woken usually takes. An endpoint whose messages do not come within
   * that time, as on a loaded machine, stops doing so, and tries again now and then. 0: never.
   */
  spin?: number;
}

/** A message and its sender. */
export interface Received {
  /** The sender. */
  peer: PeerAddr;
  /** The message. */
  data: Uint8Array;
}

export interface EndpointEvents {
  /** A new client: it has sent its first message, or `update()` has listed it. */
  peer: [PeerAddr];
  /**
   * A client is gone without a disconnect: once for each, when receiving finds out. The loop over messages has disconnected it;
   * else this comes before the CONNECTION_RESET of `receive()` or `recvFrom()`, and the program disconnects it.
   */
  lost: [PeerAddr];
}

/** The state of a service, as of an `update()`. */
export interface ServiceState {
  /** The connected clients. */
  peers: PeerAddr[];
  /** Clients that are not accepted yet: receiving accepts them. */
  pendingConnections: number;
}
