import { validate } from '@verbs/core/provider';

import type { End } from '../base/end.js';
import type { Endpoint } from '../base/objects.js';
import { checked, DocaStatus } from '../base/errors.js';
import { PeerAddr } from './peer-addr.js';
import type { ServiceState } from './types.js';

/** Throws TypeError for a value that is no PeerAddr. */
export function checkPeer(peer: unknown): asserts peer is PeerAddr {
  if (!(peer instanceof PeerAddr)) throw validate.typeError('peer', 'a PeerAddr of this endpoint', peer);
}

/** The connected peers of an endpoint, by the addon's numbers: one object for each connection. */
export class Peers {
  readonly #endpoint: Endpoint;
  readonly #end: () => End;
  readonly #byNumber = new Map<number, PeerAddr>();
  /** The numbers of peers that are gone for the program, and that the library still disconnects. */
  readonly #leaving = new Set<number>();
  readonly #added: (peer: PeerAddr) => void;

  /** `added` is called with each new peer. */
  constructor(endpoint: Endpoint, end: () => End, added: (peer: PeerAddr) => void) {
    this.#endpoint = endpoint;
    this.#end = end;
    this.#added = added;
  }

  get size(): number {
    return this.#byNumber.size;
  }

  all(): PeerAddr[] {
    return [...this.#byNumber.values()];
  }

  /** The peer of that number, which is new if it is not known. */
  of(number: number): PeerAddr {
    const known = this.#byNumber.get(number);
    if (known !== undefined) return known;
    const peer = new PeerAddr(this.#endpoint, this.#end(), number);
    this.#byNumber.set(number, peer);
    this.#added(peer);
    return peer;
  }

  /** Its number; 0, which the addon answers with NOT_CONNECTED, for a peer that is gone or belongs to another endpoint. */
  numberOf(peer: PeerAddr): number {
    checkPeer(peer);
    return peer.endpoint === this.#endpoint && peer.connected ? peer.number : 0;
  }

  /** Its number. @throws DocaError NOT_CONNECTED for a peer that is gone or belongs to another endpoint */
  connectedNumber(peer: PeerAddr, syscall: string): number {
    const number = this.numberOf(peer);
    if (number === 0) checked(-DocaStatus.NOT_CONNECTED, syscall);
    return number;
  }

  /** `disconnected` settles when the library knows the peer no more. The caller handles its rejection. */
  leave(peer: PeerAddr, disconnected: Promise<unknown>): void {
    const { number } = peer;
    this.#leaving.add(number);
    const left = () => this.#leaving.delete(number);
    disconnected.then(left, left);
  }

  isLeaving(number: number): boolean {
    return this.#leaving.has(number);
  }

  remove(peer: PeerAddr): void {
    this.#byNumber.delete(peer.number);
    peer.gone();
  }

  clear(): void {
    for (const peer of this.#byNumber.values()) peer.gone();
    this.#byNumber.clear();
  }
}

/** `doca_comm_channel_ep_update_service_state_info`, and the getters of its results. */
export function serviceState(end: End, peers: Peers): ServiceState | undefined {
  if (end.updateService === undefined) return undefined;
  const status = -end.updateService();
  const syscall = end.syscall('update_service_state_info');
  if (status !== DocaStatus.AGAIN) checked(-status, syscall);
  const numbers = checked<number[]>(end.peerList(), end.syscall('get_peer_addr_list'));
  const pendingConnections = end.pendingConnections();
  checked(pendingConnections, end.syscall('get_pending_connections'));
  return { peers: numbers.map((number) => peers.of(number)), pendingConnections };
}
