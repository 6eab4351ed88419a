import { fields, maybe, or, range, u31, u8, unchecked } from '../base/fields.js';
import { typeError, valueError } from '../base/validate.js';
import { abortSignal } from '../base/wait-options.js';
import type { ProtectionDomain } from '../device/protection-domain.js';
import type { QpType } from '../enums/index.js';
import { type ReceiverOptions, receiverOptions } from '../messages/receiver.js';
import { nativeCap } from '../qp/qp-init-attr.js';
import type { QueuePair } from '../qp/queue-pair.js';
import type { QpCap } from '../types/qp-attr.js';

/** The options of a connection, of either side. */
export interface ConnectionOptions {
  /** Where its queue pair is made; default one of a device that is opened, by `openDevice()`, and closed with it. */
  pd?: ProtectionDomain;
  /** The capacities of the queue pair; default 64 send and 64 receive requests. */
  cap?: QpCap;
  /** The local port, default 1. */
  portNum?: number;
  /**
   * Index of this side's GID; default that of the address by which the TCP connection reaches the peer, where the device
   * has it (RoCE v2), else that of `ctx.defaultGid(portNum)`.
   */
  sgidIndex?: number;
  /** The peer's rights: `AccessFlags`, default LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ. */
  access?: number;
  /** Makes `connection.messages`: a receiver whose buffers are posted before the peer can send. */
  receive?: ReceiverOptions;
  /** Called with the queue pair in INIT: the place to post receive requests before the peer can send. */
  prepare?: (qp: QueuePair<typeof QpType.RC>) => void;
  /** A JSON value for the peer, for instance `mr.remote()`; at most 48 KiB of text. */
  privateData?: unknown;
  /** Ends the wait for the peer. */
  signal?: AbortSignal;
  /** How long each step of the peer may take, in milliseconds: default 10000. */
  timeout?: number;
}

const callable = (value: unknown, path: string): ((qp: QueuePair<typeof QpType.RC>) => void) => {
  if (typeof value !== 'function') throw typeError(path, 'a function', value);
  return value as (qp: QueuePair<typeof QpType.RC>) => void;
};

/** What JSON cannot have is refused before the peer hears of anything. */
export const json = (value: unknown, path: string): unknown => {
  if (value === undefined) return value;
  try {
    // Of a function and a symbol there is no text, which the types of TypeScript do not say.
    if ((JSON.stringify(value) as string | undefined) !== undefined) return value;
  } catch (error) {
    throw valueError(path, `is no JSON value: ${(error as Error).message}`);
  }
  throw typeError(path, 'a JSON value', value);
};

/** The checks of the options; their users check the unchecked ones. */
export const CONNECTION_FIELDS = {
  pd: unchecked,
  cap: or(nativeCap, { maxSendWr: 64, maxRecvWr: 64 }),
  portNum: maybe(u8(1)),
  sgidIndex: maybe(u8()),
  access: maybe(u31()),
  receive: maybe(receiverOptions),
  prepare: maybe(callable),
  privateData: json,
  signal: unchecked,
  timeout: or(range(1, 0x7fffffff), 10_000),
};

/** Checks the options of a connection, each by its name. */
export const connectionOptions = fields(CONNECTION_FIELDS);

/** The checked options. */
export type CheckedOptions = ReturnType<typeof connectionOptions>;

/** The signal of the options. */
export function givenSignal({ signal }: { signal?: unknown }): AbortSignal | undefined {
  return signal === undefined ? undefined : abortSignal(signal, 'options.signal');
}
