interface Peer {
  /** It is gone, and the program has been told. */
  lost: boolean;
  /** The program disconnects it: it is nobody's peer any more. */
  leaving: boolean;
  counters: BigUint64Array;
  userData: bigint;
}

/** Messages and bytes sent, messages and bytes received, messages in flight. */
const COUNTERS = 5;

/** What an end knows of its connections, by their numbers. */
export class PeerTable {
  readonly #peers = new Map<number, Peer>();
  /** Peers that were removed before the event of their connection was taken. */
  readonly #stale = new Set<number>();
  readonly #announced = new Set<number>();
  /** Peers that a message did not reach. */
  readonly #failed = new Set<number>();
  /** For counters that nobody keeps. */
  readonly scratch = new BigUint64Array(COUNTERS);

  /** Whether one of them is connected. */
  get any(): boolean {
    for (const peer of this.#peers.values()) if (!peer.lost && !peer.leaving) return true;
    return false;
  }
  numbers(): number[] {
    return [...this.#peers.keys()];
  }
  isPresent(number: number): boolean {
    return this.#peers.get(number)?.leaving === false;
  }

  /** The library lists that connection. Whether it is a peer. */
  add(number: number): boolean {
    if (this.#stale.has(number)) return false;
    if (!this.#peers.has(number)) {
      this.#peers.set(number, { lost: false, leaving: false, counters: new BigUint64Array(COUNTERS), userData: 0n });
    }
    return this.isPresent(number);
  }
  /** The event of its connection was taken. */
  announce(number: number): void {
    if (this.#stale.delete(number)) return;
    this.#announced.add(number);
    this.add(number);
  }
  /** A message did not reach it. */
  fail(number: number): void {
    if (this.#peers.get(number)?.lost === false) this.#failed.add(number);
  }
  /** One of those that {@link fail} has named, once; 0 without one. */
  takeFailed(): number {
    for (const number of this.#failed) {
      this.#failed.delete(number);
      return number;
    }
    return 0;
  }
  /** False if that was known already. */
  lose(number: number): boolean {
    const peer = this.#peers.get(number);
    if (peer === undefined || peer.lost) return false;
    return (peer.lost = true);
  }
  /** False for one that is not present. */
  leave(number: number): boolean {
    const peer = this.#peers.get(number);
    if (peer === undefined || peer.leaving) return false;
    this.#failed.delete(number);
    return (peer.leaving = true);
  }
  remove(number: number): void {
    if (!this.#peers.delete(number)) return;
    this.#failed.delete(number);
    if (!this.#announced.delete(number)) this.#stale.add(number);
  }
  clear(): void {
    for (const all of [this.#peers, this.#stale, this.#announced, this.#failed]) all.clear();
  }

  counters(number: number): BigUint64Array {
    return this.#peers.get(number)?.counters ?? this.scratch;
  }
  userData(number: number): bigint | undefined {
    return this.isPresent(number) ? this.#peers.get(number)?.userData : undefined;
  }
  setUserData(number: number, value: bigint): boolean {
    const peer = this.#peers.get(number);
    if (peer === undefined || peer.leaving) return false;
    peer.userData = value;
    return true;
  }
}
