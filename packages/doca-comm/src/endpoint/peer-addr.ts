import { inspect, type InspectOptions } from 'node:util';
import { onAbort, validate } from '@verbs/core/provider';
import { liveSignalOf } from '../base/arguments.js';
import { checked, DocaError, DocaStatus } from '../base/errors.js';
import type { End } from '../base/end.js';
import type { Endpoint } from '../base/objects.js';

/** The counters of a connection, as of the last `updateInfo()`. */
export interface PeerStats {
  /** Messages sent to the peer. */
  sendMessages: bigint;
  /** Bytes sent to the peer. */
  sendBytes: bigint;
  /** Messages received from the peer. */
  recvMessages: bigint;
  /** Bytes received from the peer. */
  recvBytes: bigint;
  /** Messages sent and not acknowledged yet. */
  sendInFlightMessages: bigint;
}

/** The state of a connection: `doca_comm_channel_peer_addr_update_info`. */
export type PeerState = 'in-progress' | 'established' | 'aborted';

/**
 * The other end of a connection (`doca_comm_channel_addr_t`). A client gets it from `connect()`, a service with the first
 * message. It is the same object as long as the connection lasts.
 */
export class PeerAddr {
  /** This end of the connection. */
  readonly endpoint: Endpoint;
  /** @internal */
  readonly number: number;
  readonly #end: End;
  readonly #counters = new BigUint64Array(5);
  #connected = true;
  /** A value of the program, to recognise the peer by. Undefined at first; the C library does not see it. */
  userData: unknown;

  /** @internal */
  constructor(endpoint: Endpoint, end: End, number: number) {
    this.endpoint = endpoint;
    this.#end = end;
    this.number = number;
  }

  /** False after a disconnect. */
  get connected(): boolean {
    return this.#connected;
  }

  /** For `util.inspect` and `console.log`: the peer's number, and whether it is connected. */
  [inspect.custom](depth: number, options: InspectOptions = {}): string {
    if (!(#connected in this)) return inspect(this, { ...options, depth, customInspect: false });
    const { number, connected } = this;
    return depth < 0 ? `[PeerAddr ${number}]` : `PeerAddr ${inspect({ number, connected }, { ...options, depth })}`;
  }

  /** @internal */
  gone(): void {
    this.#connected = false;
  }

  /** `doca_comm_channel_peer_addr_get_user_data`, `_set_user_data`: the 64 bits of the C library, 0 at first. */
  get userData64(): bigint {
    const value = this.#use('get_user_data').getUserData(this.number);
    return checked<bigint>(value, this.syscall('get_user_data'));
  }
  /** 0 to 2^64 - 1. @throws RangeError otherwise */
  set userData64(value: bigint) {
    const bits = BigInt(validate.u64(value, 'userData64'));
    checked(this.#use('set_user_data').setUserData(this.number, bits), this.syscall('set_user_data'));
  }

  /**
   * `doca_comm_channel_peer_addr_update_info`: the state of the connection. It also updates the counters.
   *
   * @throws DocaError NOT_CONNECTED after a disconnect
   */
  updateInfo(): PeerState {
    const status = -this.#use('update_info').updateInfo(this.number);
    if (status === DocaStatus.CONNECTION_INPROGRESS) return 'in-progress';
    if (status === DocaStatus.CONNECTION_ABORTED) return 'aborted';
    checked(-status, this.syscall('update_info'));
    return 'established';
  }

  /** `doca_comm_channel_peer_addr_get_*`: the counters as of the last `updateInfo()`. @throws DocaError NOT_CONNECTED */
  counters(): PeerStats {
    const result = this.#use('get_send_messages').statistics(this.number, this.#counters);
    checked(result, this.syscall('get_send_messages'));
    const [sendMessages = 0n, sendBytes = 0n, recvMessages = 0n, recvBytes = 0n, sendInFlightMessages = 0n] =
      this.#counters;
    return { sendMessages, sendBytes, recvMessages, recvBytes, sendInFlightMessages };
  }

  /** `updateInfo()` and `counters()`: the counters of now. @throws DocaError NOT_CONNECTED */
  stats(): PeerStats {
    this.updateInfo();
    return this.counters();
  }

  /**
   * Resolves when the service has accepted the connection. A service accepts inside its receive call: a service that
   * never receives never accepts.
   *
   * @throws DocaError CONNECTION_ABORTED if the service rejects the connection or is gone
   */
  async established(options?: { signal?: AbortSignal }): Promise<void> {
    for (let pause = 0; ; pause = Math.min(pause + 1, 10)) {
      const signal = liveSignalOf(options);
      const state = this.updateInfo();
      if (state === 'established') return;
      if (state === 'aborted') {
        throw new DocaError(
          DocaStatus.CONNECTION_ABORTED,
          this.syscall('update_info'),
          'the service rejected the connection or is gone; disconnect, then try again',
        );
      }
      await pauseFor(pause, signal);
    }
  }

  /** @internal The C function of that name. */
  syscall(name: string): string {
    return this.#end.syscall(`peer_addr_${name}`);
  }

  #use(name: string): End {
    if (!this.#connected) {
      throw new DocaError(
        DocaStatus.NOT_CONNECTED,
        this.syscall(name),
        'the peer was disconnected; its address is no longer valid',
      );
    }
    return this.#end;
  }
}

/** Waits N milliseconds; 0 yields to the event loop. A signal ends it early, without an error. */
export function pauseFor(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  if (milliseconds === 0) return new Promise((resolve) => setImmediate(resolve));
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      forget?.();
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    const forget = signal && onAbort(signal, done);
  });
}
